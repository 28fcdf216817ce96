{{- /* The Kubernetes objects of an application (sparkgen/resources/objects.py, run.py). */ -}}

{{- /*
All objects, in the order in which they are applied. In: app. Out: objects, run.

The run is built twice, once with the placeholder for its hash: putting the hash into finished text could
hit a text of the user.
*/ -}}
{{- define "sparkgen.objects" -}}
  {{- $app := .app -}}
  {{- $placeholder := dict "app" $app "run" (printf "%s-%s" $app.name $app.t.runPlaceholder) -}}
  {{- template "sparkgen.files" $placeholder -}}
  {{- template "sparkgen.executorFile" $placeholder -}}
  {{- template "sparkgen.workload" $placeholder -}}
  {{- $spec := $placeholder.object.spec -}}
  {{- if eq $placeholder.object.kind "CronJob" -}}{{- $spec = $spec.jobTemplate.spec -}}{{- end -}}
  {{- range $field := $app.t.changeable -}}{{- $spec = omit $spec $field -}}{{- end -}}
  {{- $identity := dict "id" ($app.run.id | default "") "workload" $spec "files" $placeholder.files -}}
  {{- $run := printf "%s-%s" $app.name (include "sparkgen.digest" $identity) -}}

  {{- $made := dict "app" $app "run" $run "objects" list "files" $placeholder.files -}}
  {{- template "sparkgen.access" $made -}}
  {{- template "sparkgen.executorFile" $made -}}
  {{- range $suffix := list "conf" "hadoop" "executor" -}}
    {{- if hasKey $made.files $suffix -}}
      {{- $call := dict "app" $app "name" (printf "%s-%s" $run $suffix) "run" $run -}}
      {{- template "sparkgen.metadata" $call -}}
      {{- $_ := set $made "objects" (append $made.objects (dict
          "apiVersion" "v1" "kind" "ConfigMap" "metadata" $call.metadata
          "immutable" true "data" (get $made.files $suffix))) -}}
    {{- end -}}
  {{- end -}}
  {{- template "sparkgen.neighbours" $made -}}
  {{- template "sparkgen.workload" $made -}}

  {{- $history := dict "app" $app "run" $run "workload" $made.object.kind -}}
  {{- template "sparkgen.history" $history -}}
  {{- $objects := list -}}
  {{- range $object := concat $made.objects (list $made.object) $history.objects -}}
    {{- $call := dict "object" $object "app" $app -}}
    {{- template "sparkgen.forTarget" $call -}}
    {{- $objects = append $objects $call.object -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
  {{- $_ := set . "run" $run -}}
{{- end -}}

{{- /* In: app, name, run (for objects of one run). Out: metadata. */ -}}
{{- define "sparkgen.metadata" -}}
  {{- $c := .app.c -}}
  {{- $labels := omit .app.labels -}}
  {{- $_ := set $labels $c.LABEL_NAME .app.name -}}
  {{- $_ := set $labels $c.LABEL_MANAGED_BY "sparkgen" -}}
  {{- $_ := set $labels $c.LABEL_APPLICATION .app.name -}}
  {{- with .run -}}{{- $_ := set $labels $c.LABEL_RUN . -}}{{- end -}}
  {{- $metadata := dict "name" .name "namespace" .app.namespace "labels" $labels -}}
  {{- if .app.annotations -}}{{- $_ := set $metadata "annotations" (omit .app.annotations) -}}{{- end -}}
  {{- $_ := set . "metadata" $metadata -}}
{{- end -}}

{{- /*
What the target needs to be told, by annotations that are in no hash (sparkgen/resources/gitops.py). Flux would take
`${...}` for a variable: where a text has it, its substitution is off. In, out: object. In: app.
*/ -}}
{{- define "sparkgen.forTarget" -}}
  {{- $t := .app.t -}}
  {{- $wanted := dict -}}
  {{- if and (has .object.kind $t.keptKinds) (hasKey .object.metadata.labels .app.c.LABEL_APPLICATION) (ne (get .object.metadata.labels .app.c.LABEL_COMPONENT) .app.c.HISTORY) -}}
    {{- $wanted = omit (get $t.runAnnotations .app.target) -}}
  {{- end -}}
  {{- if eq .object.kind "Job" -}}
    {{- range $key, $text := get $t.jobAnnotations .app.target -}}{{- $_ := set $wanted $key $text -}}{{- end -}}
    {{- if not (hasKey .object.metadata.labels .app.c.LABEL_RUN) -}}
      {{- range $key, $text := get $t.historyAnnotations .app.target -}}{{- $_ := set $wanted $key $text -}}{{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if and (ne .app.target "argocd") (regexMatch "\\$\\{([^\"\\\\]|\\\\.)*\"[],}]" (toRawJson .object)) -}}
    {{- $_ := set $wanted $t.verbatim "disabled" -}}
  {{- end -}}
  {{- if $wanted -}}
    {{- $annotations := omit (.object.metadata.annotations | default dict) -}}
    {{- range $key, $text := $wanted -}}
      {{- $own := get $annotations $key | toString -}}
      {{- if not (hasKey $annotations $key) -}}
        {{- $_ := set $annotations $key $text -}}
      {{- else if has $key $t.listAnnotations -}}
        {{- $names := list -}}
        {{- range $option := splitList "," $own -}}
          {{- $names = append $names (first (splitList "=" (trim $option))) -}}
        {{- end -}}
        {{- if not (has (first (splitList "=" $text)) $names) -}}
          {{- $_ := set $annotations $key (ternary (printf "%s,%s" $own $text) $text (ne (trim $own) "")) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- $metadata := set (omit .object.metadata) "annotations" $annotations -}}
    {{- $_ := set . "object" (set (omit .object) "metadata" $metadata) -}}
  {{- end -}}
{{- end -}}

{{- /* The account and the allocator's rights. In, out: objects. In: app. */ -}}
{{- define "sparkgen.access" -}}
  {{- $app := .app -}}
  {{- $objects := list -}}
  {{- if $app.account.create -}}
    {{- $call := dict "app" $app "name" $app.account.name -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- if $app.account.annotations -}}
      {{- $annotations := $call.metadata.annotations | default dict -}}
      {{- range $key, $text := $app.account.annotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
      {{- $_ := set $call.metadata "annotations" $annotations -}}
    {{- end -}}
    {{- $filled := dict "layer" $app.t.layers.service_account "values" $call -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- $objects = append $objects $filled.value -}}
  {{- end -}}
  {{- if $app.account.rbac -}}
    {{- $call := dict "app" $app "name" $app.name "rules" $app.t.allocatorRules "account" $app.account.name -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- template "sparkgen.granted" (set $call "namespace" $app.namespace) -}}
    {{- $objects = concat $objects $call.granted -}}
    {{- if dig "shuffle" "onNode" false $app -}}
      {{- $janitor := dict "app" $app "name" (printf "%s-shuffle-janitor" $app.name)
          "rules" $app.t.shuffleJanitorRules "account" $app.shuffle.name -}}
      {{- template "sparkgen.metadata" $janitor -}}
      {{- template "sparkgen.granted" (set $janitor "namespace" $app.shuffle.namespace) -}}
      {{- $objects = concat $objects $janitor.granted -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "objects" (concat .objects $objects) -}}
{{- end -}}

{{- /* A Role, and the RoleBinding that gives it. In: app, metadata, rules, account, namespace. Out: granted. */ -}}
{{- define "sparkgen.granted" -}}
  {{- $granted := list -}}
  {{- range $name := list "role" "role_binding" -}}
    {{- $filled := dict "layer" (get $.app.t.layers $name) "values" $ -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- $granted = append $granted $filled.value -}}
  {{- end -}}
  {{- $_ := set . "granted" $granted -}}
{{- end -}}

{{- /* What stands beside the run: tuning, network policy, disruption budget, UI. In, out: objects. In: app, run. */ -}}
{{- define "sparkgen.neighbours" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $tuning := dict "app" $app "name" (printf "%s-tuning" $app.name) -}}
  {{- template "sparkgen.metadata" $tuning -}}
  {{- $objects := list (dict
      "apiVersion" "v1" "kind" "ConfigMap" "metadata" $tuning.metadata
      "data" (dict $c.TUNING_FILE (include "sparkgen.tuning" $app))) -}}
  {{- if hasKey $app "networkPolicy" -}}
    {{- $call := dict "app" $app "name" $app.name -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- $own := dict "matchLabels" (dict $c.LABEL_APPLICATION $app.name) -}}
    {{- $ingress := list (dict "from" (list (dict "podSelector" $own))) -}}
    {{- with $app.networkPolicy.ingressFrom -}}
      {{- $ports := list
          (dict "protocol" "TCP" "port" $c.UI_PORT) (dict "protocol" "TCP" "port" $c.ALLOCATOR_PORT) -}}
      {{- $ingress = append $ingress (dict "from" . "ports" $ports) -}}
    {{- end -}}
    {{- if dig "shuffle" "onNode" false $app -}}
      {{- $range := splitList "-" $app.shuffle.hostPorts -}}
      {{- $ingress = append $ingress (dict "ports" (list (dict
          "protocol" "TCP" "port" (first $range | atoi) "endPort" (last $range | atoi)))) -}}
    {{- end -}}
    {{- $objects = append $objects (dict
        "apiVersion" "networking.k8s.io/v1" "kind" "NetworkPolicy" "metadata" $call.metadata
        "spec" (dict "podSelector" $own "policyTypes" (list "Ingress") "ingress" $ingress)) -}}
  {{- end -}}
  {{- if hasKey $app "podDisruptionBudget" -}}
    {{- $call := dict "app" $app "name" (printf "%s-driver" $app.name) -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- $picked := dict "source" $app.podDisruptionBudget
        "names" (list "minAvailable" "maxUnavailable" "unhealthyPodEvictionPolicy") -}}
    {{- template "sparkgen.picked" $picked -}}
    {{- $spec := $picked.picked -}}
    {{- if not (or (hasKey $spec "minAvailable") (hasKey $spec "maxUnavailable")) -}}
      {{- $_ := set $spec "minAvailable" 1 -}}
    {{- end -}}
    {{- $_ := set $spec "selector" (dict "matchLabels" (dict
        $c.LABEL_APPLICATION $app.name $c.LABEL_ROLE "driver")) -}}
    {{- $objects = append $objects (dict
        "apiVersion" "policy/v1" "kind" "PodDisruptionBudget" "metadata" $call.metadata "spec" $spec) -}}
  {{- end -}}
  {{- template "sparkgen.uiService" . -}}
  {{- $outside := dict "ui" $app.ui "service" .service "t" $app.t "metadata" .uiMetadata -}}
  {{- template "sparkgen.exposures" $outside -}}
  {{- $_ := set . "objects" (concat .objects $objects (list .service) $outside.objects) -}}
{{- end -}}

{{- /* The Spark UI of the current run's driver. In: app, run. Out: service, uiMetadata (of what leads there). */ -}}
{{- define "sparkgen.uiService" -}}
  {{- $options := .app.ui -}}
  {{- $call := dict "app" .app "name" (printf "%s-ui" .app.name) -}}
  {{- template "sparkgen.metadata" $call -}}
  {{- $_ := set . "uiMetadata" (deepCopy $call.metadata) -}}
  {{- $labels := omit ($options.serviceLabels | default dict) -}}
  {{- range $key, $text := $call.metadata.labels -}}{{- $_ := set $labels $key $text -}}{{- end -}}
  {{- $_ := set $call.metadata "labels" $labels -}}
  {{- if $options.serviceAnnotations -}}
    {{- $annotations := $call.metadata.annotations | default dict -}}
    {{- range $key, $text := $options.serviceAnnotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
    {{- $_ := set $call.metadata "annotations" $annotations -}}
  {{- end -}}
  {{- $_ := set . "service" (dict
      "apiVersion" "v1" "kind" "Service" "metadata" $call.metadata
      "spec" (dict
        "type" ($options.serviceType | default "ClusterIP")
        "selector" (dict .app.c.LABEL_RUN .run .app.c.LABEL_ROLE "driver")
        "ports" (list (dict
          "name" "spark-ui" "port" ($options.servicePort | default .app.c.UI_PORT) "targetPort" "spark-ui")))) -}}
{{- end -}}

{{- /* What runs the driver: a CronJob, a Deployment or a Job. In: app, run. Out: object. */ -}}
{{- define "sparkgen.workload" -}}
  {{- $app := .app -}}
  {{- $driver := dict "app" $app "role" $app.driver "run" .run -}}
  {{- template "sparkgen.pod" $driver -}}
  {{- $call := dict "app" $app "name" $app.name -}}
  {{- if hasKey $app "schedule" -}}
    {{- template "sparkgen.cronJob" (set . "pod" $driver.pod) -}}
  {{- else if eq $app.restart "Always" -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- $selector := dict $app.c.LABEL_APPLICATION $app.name $app.c.LABEL_ROLE "driver" -}}
    {{- $_ := set . "object" (dict
        "apiVersion" "apps/v1" "kind" "Deployment" "metadata" $call.metadata
        "spec" (dict
          "replicas" (ternary 0 1 $app.suspend)
          "strategy" (dict "type" "Recreate")
          "selector" (dict "matchLabels" $selector)
          "template" $driver.pod)) -}}
  {{- else -}}
    {{- $call := dict "app" $app "name" .run "run" .run -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- template "sparkgen.jobSpec" (set . "pod" $driver.pod) -}}
    {{- $_ := set . "object" (dict
        "apiVersion" "batch/v1" "kind" "Job" "metadata" $call.metadata "spec" .jobSpec) -}}
  {{- end -}}
{{- end -}}

{{- /* In: app, pod. Out: jobSpec. */ -}}
{{- define "sparkgen.jobSpec" -}}
  {{- $spec := dict "backoffLimit" .app.retries "podReplacementPolicy" "Failed" "template" .pod -}}
  {{- if .app.retries -}}
    {{- $disrupted := dict "type" "DisruptionTarget" "status" "True" -}}
    {{- $_ := set $spec "podFailurePolicy" (dict "rules" (list (dict
        "action" "Ignore" "onPodConditions" (list $disrupted)))) -}}
  {{- end -}}
  {{- if hasKey .app.spec "activeDeadlineSeconds" -}}
    {{- $_ := set $spec "activeDeadlineSeconds" .app.spec.activeDeadlineSeconds -}}
  {{- end -}}
  {{- if and (hasKey .app.spec "timeToLiveSeconds") (or (hasKey .app "schedule") (eq .app.target "kubectl")) -}}
    {{- $_ := set $spec "ttlSecondsAfterFinished" .app.spec.timeToLiveSeconds -}}
  {{- end -}}
  {{- if .app.suspend -}}{{- $_ := set $spec "suspend" true -}}{{- end -}}
  {{- $_ := set . "jobSpec" $spec -}}
{{- end -}}

{{- /* In: app, run, pod. Out: object. */ -}}
{{- define "sparkgen.cronJob" -}}
  {{- $schedule := .app.schedule -}}
  {{- $call := dict "app" .app "name" .app.name -}}
  {{- template "sparkgen.metadata" $call -}}
  {{- template "sparkgen.jobSpec" . -}}
  {{- $spec := dict
      "schedule" $schedule.schedule
      "concurrencyPolicy" ($schedule.concurrencyPolicy | default "Forbid")
      "suspend" (default false $schedule.suspend)
      "jobTemplate" (dict
        "metadata" (dict "labels" (set (omit $call.metadata.labels) .app.c.LABEL_RUN .run))
        "spec" .jobSpec) -}}
  {{- $optional := dict
      "timeZone" "timeZone"
      "startingDeadlineSeconds" "startingDeadlineSeconds"
      "successfulRunHistoryLimit" "successfulJobsHistoryLimit"
      "failedRunHistoryLimit" "failedJobsHistoryLimit" -}}
  {{- range $from, $to := $optional -}}
    {{- if hasKey $schedule $from -}}{{- $_ := set $spec $to (get $schedule $from) -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "object" (dict
      "apiVersion" "batch/v1" "kind" "CronJob" "metadata" $call.metadata "spec" $spec) -}}
{{- end -}}
