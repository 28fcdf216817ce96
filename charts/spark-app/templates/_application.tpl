{{- /* A valid document as an application: every default applied, every unit resolved (sparkgen/model). */ -}}

{{- /* In: facts, namespace, files. Out: app. `app.c` is the contract, `app.t` all tables. */ -}}
{{- define "sparkgen.application" -}}
  {{- $facts := .facts -}}
  {{- $local := dict "spec" $facts.spec "tables" $facts.tables -}}
  {{- template "sparkgen.delivered" $local -}}
  {{- $spec := $local.delivered -}}
  {{- $effective := dict "properties" $facts.properties -}}
  {{- if $spec.artifacts -}}
    {{- $effective = dict "spec" $spec "tables" $facts.tables -}}
    {{- template "sparkgen.properties" $effective -}}
  {{- end -}}
  {{- $metadata := $facts.value.metadata -}}
  {{- $outer := $facts.value.spec -}}
  {{- $restart := $spec.restartPolicy | default dict -}}
  {{- $type := $restart.type | default "Never" -}}
  {{- $scala := ternary "2.12" "2.13" (hasPrefix "3." $spec.sparkVersion) -}}
  {{- $secrets := list -}}
  {{- range $name := $spec.imagePullSecrets -}}{{- $secrets = append $secrets (dict "name" $name) -}}{{- end -}}
  {{- $runtime := dict "spec" $spec "c" $facts.tables.contract -}}
  {{- template "sparkgen.runtime" $runtime -}}
  {{- $app := dict
      "t" $facts.tables
      "c" $facts.tables.contract
      "files" .files
      "pods" dict
      "queueLabels" dict
      "pullSecrets" $secrets
      "spec" $spec
      "name" $metadata.name
      "namespace" ($metadata.namespace | default .namespace)
      "labels" ($metadata.labels | default dict)
      "annotations" ($metadata.annotations | default dict)
      "target" ($metadata.target | default "kubectl")
      "language" $spec.type
      "scalaVersion" ($spec.scalaVersion | default $scala)
      "bySpark" (eq "spark" ($spec.allocator | default ""))
      "concurrency" (ternary "" ($spec.concurrencyPolicy | default "") (or (eq "spark" ($spec.allocator | default "")) (eq "Allow" ($spec.concurrencyPolicy | default "Allow"))))
      "runtime" $runtime.values
      "properties" $effective.properties
      "pythonPath" $local.pythonPath
      "hadoopConfigMap" ($spec.hadoopConfigMap | default "")
      "onMismatch" (dig "allocation" "onMismatch" "fail" $spec)
      "allocatorResources" (dig "allocation" "resources" dict $spec)
      "restart" $type
      "retries" (ternary ($restart.onFailureRetries | default 0) 0 (eq $type "OnFailure"))
      "suspend" (default false $spec.suspend)
      "run" ($spec.run | default dict)
      "ui" ($spec.sparkUIOptions | default dict)
      "logLevel" (dig "logging" "level" "INFO" $spec)
      "loggers" (dig "logging" "loggers" dict $spec)
      "metrics" (dig "monitoring" "metricsProperties" "" $spec)
  -}}
  {{- with get $facts.tables.completions $facts.value.kind -}}
    {{- $_ := set (set $app .section (get $spec .section | default dict)) "ownProperties" .contractProperties -}}
  {{- end -}}
  {{- if $facts.scheduled -}}{{- $_ := set $app "schedule" $outer -}}{{- end -}}
  {{- if dig "rbac" "create" true $spec -}}
    {{- $given := dig "run" "history" dict $spec -}}
    {{- if and $given (not $facts.scheduled) (ne $type "Always") -}}
      {{- $_ := set $app "history" $given -}}
    {{- else if has $app.target $facts.tables.gitops -}}
      {{- $_ := set $app "history" $facts.tables.defaultHistory -}}
    {{- end -}}
  {{- end -}}
  {{- range $section, $value := pick $spec "networkPolicy" "podDisruptionBudget" -}}
    {{- if dig "enabled" true $value -}}{{- $_ := set $app $section $value -}}{{- end -}}
  {{- end -}}
  {{- $own := $spec.serviceAccount | default dict -}}
  {{- $existing := dig "driver" "serviceAccount" "" $spec -}}
  {{- $_ := set $app "account" (dict
      "name" ($existing | default $own.name | default $metadata.name)
      "create" (ternary $own.create (not $existing) (hasKey $own "create"))
      "annotations" ($own.annotations | default dict)
      "rbac" (dig "rbac" "create" true $spec)) -}}
  {{- range $name := list "driver" "executor" -}}
    {{- $role := dict "app" $app "name" $name -}}
    {{- template "sparkgen.role" $role -}}
    {{- $_ := set $app $name (omit $role "app") -}}
  {{- end -}}
  {{- template "sparkgen.executors" $app -}}
  {{- template "sparkgen.delivery" $app -}}
  {{- template "sparkgen.imageModules" $app -}}
  {{- template "sparkgen.batch" $app -}}
  {{- template "sparkgen.shuffle" $app -}}
  {{- template "sparkgen.confFiles" $app -}}
  {{- template "sparkgen.kerberos" $app -}}
  {{- template "sparkgen.logArchive" $app -}}
  {{- $log := dict "section" $spec.eventLog -}}
  {{- template "sparkgen.logClaim" $log -}}
  {{- if hasKey $log "claim" -}}{{- $_ := set $app "logClaim" $log.claim -}}{{- end -}}
  {{- $_ := set . "app" $app -}}
{{- end -}}

{{- /* The driver or the executors. In: app, name. Out: its fields. */ -}}
{{- define "sparkgen.role" -}}
  {{- $properties := .app.properties -}}
  {{- $role := get .app.spec .name | default dict -}}
  {{- $cores := dig (printf "spark.%s.cores" .name) "1" $properties -}}
  {{- $limit := printf "spark.kubernetes.%s.limit.cores" .name -}}
  {{- $memory := dict "role" .name "language" .app.language "properties" $properties "tables" .app.t -}}
  {{- template "sparkgen.memory" $memory -}}
  {{- if $memory.error -}}
    {{- fail (printf "the memory of the %s cannot be computed: write smaller sizes, and a shorter factor below 10^6" .name) -}}
  {{- end -}}
  {{- $sizes := $memory.value -}}
  {{- $options := list -}}
  {{- range $kind := list "default" "extra" -}}
    {{- $options = append $options (get $properties (printf "spark.%s.%sJavaOptions" $.name $kind)) -}}
  {{- end -}}
  {{- $_ := set . "spec" $role -}}
  {{- $_ := set . "image" ($role.image | default .app.spec.image) -}}
  {{- $_ := set . "imagePullPolicy" ($role.imagePullPolicy | default .app.spec.imagePullPolicy) -}}
  {{- $_ := set . "cores" (include "sparkgen.stripped" $cores | atoi) -}}
  {{- $_ := set . "coreRequest" (dig (printf "spark.kubernetes.%s.request.cores" .name) $cores $properties) -}}
  {{- if hasKey $properties $limit -}}{{- $_ := set . "coreLimit" (get $properties $limit) -}}{{- end -}}
  {{- $_ := set . "heap" $sizes.heap -}}
  {{- $_ := set . "overhead" $sizes.overhead -}}
  {{- $_ := set . "total" (add $sizes.heap $sizes.overhead $sizes.offHeap $sizes.pyspark) -}}
  {{- $_ := set . "javaOptions" (without $options "" | join " ") -}}
  {{- $_ := set . "labels" ($role.labels | default dict) -}}
  {{- $_ := set . "annotations" ($role.annotations | default dict) -}}
{{- end -}}

{{- /* How many executors: `app.executors`. In, out: app. */ -}}
{{- define "sparkgen.executors" -}}
  {{- $properties := .properties -}}
  {{- $prefix := "spark.dynamicAllocation." -}}
  {{- $dynamic := include "sparkgen.isTrue" (list $properties (print $prefix "enabled") false) | eq "true" -}}
  {{- $instances := dig "spark.executor.instances" (ternary "0" "1" $dynamic) $properties | include "sparkgen.stripped" | atoi -}}
  {{- if not $dynamic -}}
    {{- $_ := set . "executors" (dict "dynamic" false "instances" $instances) -}}
  {{- else -}}
    {{- $minimum := dig (print $prefix "minExecutors") "0" $properties | include "sparkgen.stripped" | atoi -}}
    {{- $initial := dig (print $prefix "initialExecutors") (toString $minimum) $properties | include "sparkgen.stripped" | atoi -}}
    {{- $bounds := dict "minimum" $minimum "initial" (max $minimum $initial $instances) -}}
    {{- if hasKey $properties (print $prefix "maxExecutors") -}}
      {{- $_ := set $bounds "maximum" (get $properties (print $prefix "maxExecutors") | include "sparkgen.stripped" | atoi) -}}
    {{- end -}}
    {{- $_ := set . "executors" (dict "dynamic" true "bounds" $bounds) -}}
  {{- end -}}
{{- end -}}
