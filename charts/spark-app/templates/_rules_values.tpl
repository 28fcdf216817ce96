{{- /*
Rules about texts, names and numbers: sparkgen/semantics/rules_{sizes,metadata,versions,lifecycle}.py. A rule is called
after its code, with the facts as dot; it says what the generator says, and `sparkgen rule CODE` explains it.
*/ -}}

{{- /* The texts of a grammar's fields and settings. In: facts, grammar, settings, example. */ -}}
{{- define "sparkgen.texts" -}}
  {{- $facts := .facts -}}
  {{- $texts := list -}}
  {{- range $path := get $facts.tables.applicationFields .grammar -}}
    {{- $call := dict "from" $facts.spec "path" $path -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- if and $call.found (kindIs "string" $call.value) -}}
      {{- $texts = append $texts (dict "path" (concat $facts.root $path) "text" $call.value) -}}
    {{- end -}}
  {{- end -}}
  {{- range $name := .settings -}}
    {{- if hasKey $facts.conf $name -}}
      {{- $texts = append $texts (dict
          "path" (concat $facts.root (list "sparkConf" $name)) "text" (get $facts.conf $name)) -}}
    {{- end -}}
  {{- end -}}
  {{- range $text := $texts -}}
    {{- $reason := include (printf "sparkgen.reason.%s" $.grammar) (list $text.text $facts.tables) -}}
    {{- template "sparkgen.refused" (dict
        "facts" $facts "path" $text.path "text" $text.text "reason" $reason "example" $.example) -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG101" -}}
  {{- template "sparkgen.texts" (dict
      "facts" . "grammar" "memory" "settings" .tables.memorySettings "example" "4g") -}}
{{- end -}}

{{- define "sparkgen.rule.SG102" -}}
  {{- template "sparkgen.texts" (dict
      "facts" . "grammar" "cpu" "settings" .tables.cpuSettings "example" "500m") -}}
{{- end -}}

{{- define "sparkgen.rule.SG103" -}}
  {{- template "sparkgen.texts" (dict
      "facts" . "grammar" "duration" "settings" .tables.durationSettings "example" "60s") -}}
{{- end -}}

{{- define "sparkgen.rule.SG104" -}}
  {{- $name := .value.metadata.name -}}
  {{- $most := int .tables.longestName -}}
  {{- if gt (len $name) $most -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (list "metadata" "name")
        "message" (printf "has %d characters, and the names made of it would be too long for Kubernetes" (len $name))
        "next" (printf "shorten it by %d, for example to `%s`"
          (sub (len $name) $most) (regexReplaceAll "-+$" (trunc $most $name) ""))) -}}
  {{- end -}}
  {{- $id := get .conf "spark.app.id" -}}
  {{- if and $id (not (include "sparkgen.isLabelValue" $id)) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "sparkConf" "spark.app.id"))
        "message" "becomes a label of the pods, and Kubernetes refuses such a value"
        "next" "shorten it, or delete it: each run gets an id of its own") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG105" -}}
  {{- template "sparkgen.texts" (dict
      "facts" . "grammar" "factor" "settings" .tables.factorSettings "example" "\"0.1\"") -}}
{{- end -}}

{{- define "sparkgen.rule.SG106" -}}
  {{- $facts := . -}}
  {{- range $name, $text := .conf -}}
    {{- $path := concat $facts.root (list "sparkConf" $name) -}}
    {{- $plain := include "sparkgen.stripped" $text -}}
    {{- if hasKey $facts.tables.countSettings $name -}}
      {{- $least := get $facts.tables.countSettings $name | int -}}
      {{- $valid := regexMatch "^[0-9]{1,9}$" $plain -}}
      {{- if or (not $valid) (lt (ternary $plain "0" $valid | atoi) $least) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
            "message" (printf "must be a whole number from %d" $least)
            "next" (printf "write it as in `%s: \"2\"`" $name)) -}}
      {{- end -}}
    {{- else if and (has $name $facts.tables.switches) (not (has (lower $plain) (list "true" "false"))) -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
          "message" "is a switch, and Spark stops at anything but true and false"
          "next" (printf "write `%s: \"true\"` or \"false\"" $name)) -}}
    {{- else if regexMatch "^spark\\.(driver|executor)\\.resource\\.[^.]+\\.amount$" $name -}}
      {{- if not (regexMatch "^[0-9]{1,9}$" $text) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
            "message" "must be a whole number" "next" (printf "write it as in `%s: \"1\"`" $name)) -}}
      {{- end -}}
    {{- else if regexMatch "^spark\\.(driver|executor)\\.resource\\.[^.]+\\.vendor$" $name -}}
      {{- if not (regexMatch "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$" $text) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
            "message" "is no domain, and Kubernetes names devices as in nvidia.com/gpu"
            "next" (printf "write the domain of the device plugin, as in `%s: nvidia.com`" $name)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG108" -}}
  {{- $facts := . -}}
  {{- if not (or (hasKey .conf "spark.testing") (hasKey .conf "spark.testing.reservedMemory") (hasKey .conf "spark.testing.memory")) -}}
    {{- range $role := list "driver" "executor" -}}
      {{- $name := printf "spark.%s.memory" $role -}}
      {{- if hasKey $facts.properties $name -}}
        {{- $heap := dict "text" (get $facts.properties $name) "tables" $facts.tables -}}
        {{- template "sparkgen.mib" $heap -}}
        {{- if and (not $heap.error) (lt $heap.value (int64 $facts.tables.leastHeapMib)) -}}
          {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $name
              "message" (printf "Spark does not start with a heap below %v MiB" $facts.tables.leastHeapMib)
              "next" "write 512m or more; for a small pod lower `memoryOverhead` instead (default: 384m or more)") -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG109" -}}
  {{- $facts := . -}}
  {{- $message := "requests more than the limit of %s, and Kubernetes refuses the pod" -}}
  {{- $next := "lower the request or raise the limit" -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $name := printf "spark.kubernetes.%s.limit.cores" $role -}}
    {{- $place := dict "facts" $facts "name" $name -}}
    {{- template "sparkgen.place" $place -}}
    {{- $limit := get $facts.properties $name -}}
    {{- $found := hasKey $facts.properties $name -}}
    {{- range $container := $facts.containers -}}
      {{- if and (not $found) (eq $container.role $role) (eq $container.kind "spark") (not $container.typed) -}}
        {{- $limits := dig "resources" "limits" dict $container.spec -}}
        {{- if hasKey $limits "cpu" -}}
          {{- $limit = include "sparkgen.propertyText" $limits.cpu -}}
          {{- $found = true -}}
          {{- $_ := set $place "place" (concat $container.path (list "resources" "limits" "cpu")) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- $request := printf "spark.kubernetes.%s.request.cores" $role -}}
    {{- $cores := dig (printf "spark.%s.cores" $role) "1" $facts.properties -}}
    {{- if not $found -}}
    {{- else if hasKey $facts.properties $request -}}
      {{- if include "sparkgen.more" (list (get $facts.properties $request) $limit) -}}
        {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $request
            "message" (printf $message (include "sparkgen.shortened" $limit)) "next" $next) -}}
      {{- end -}}
    {{- else if include "sparkgen.more" (list $cores $limit) -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $place.place
          "message" (printf "is below the %s CPU that the pod requests, which is `cores` unless `coreRequest` is set" $cores)
          "next" (printf "raise it to \"%s\", or set `coreRequest: \"%s\"` of the %s"
            $cores (include "sparkgen.shortened" $limit) $role)) -}}
    {{- end -}}
  {{- end -}}
  {{- range $container := .containers -}}
    {{- if not (and $container.typed (eq $container.kind "spark")) -}}
      {{- $requests := dig "resources" "requests" dict $container.spec -}}
      {{- range $name, $limit := dig "resources" "limits" dict $container.spec -}}
        {{- $limit = include "sparkgen.propertyText" $limit -}}
        {{- if hasKey $requests $name -}}
          {{- if include "sparkgen.more" (list (get $requests $name | include "sparkgen.propertyText") $limit) -}}
            {{- template "sparkgen.problem" (dict "facts" $facts
                "path" (concat $container.path (list "resources" "requests" $name))
                "message" (printf $message (include "sparkgen.shortened" $limit)) "next" $next) -}}
          {{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG136" -}}
  {{- $parts := splitList "." .spec.sparkVersion -}}
  {{- $major := first $parts | atoi -}}
  {{- $minor := regexFind "^[0-9]+" (index $parts 1) | atoi -}}
  {{- if or (lt $major 3) (and (eq $major 3) (lt $minor 4)) (gt $major 4) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "sparkVersion")
        "message" "sparkgen has no scheduler jar for this version of Spark"
        "next" "use an image with Spark 3.5 or 4, and write its version") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG138" -}}
  {{- if and (eq "2.12" (.spec.scalaVersion | default "")) (ge (splitList "." .spec.sparkVersion | first | atoi) 4) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "scalaVersion")
        "message" "Spark 4 is built for Scala 2.13 only" "next" "delete it") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG140" -}}
  {{- $facts := . -}}
  {{- $texts := list -}}
  {{- range $index, $text := dig "deps" "packages" list .spec -}}
    {{- $texts = append $texts (dict "path" (concat $facts.root (list "deps" "packages" $index)) "text" $text) -}}
  {{- end -}}
  {{- if hasKey .conf "spark.jars.packages" -}}
    {{- $texts = append $texts (dict
        "path" (concat .root (list "sparkConf" "spark.jars.packages")) "text" (get .conf "spark.jars.packages")) -}}
  {{- end -}}
  {{- range $text := $texts -}}
    {{- range $name := splitList "," $text.text -}}
      {{- $name = include "sparkgen.stripped" $name -}}
      {{- $parts := splitList ":" (replace "/" ":" $name) -}}
      {{- $blank := false -}}
      {{- range $part := $parts -}}{{- if not (include "sparkgen.stripped" $part) -}}{{- $blank = true -}}{{- end -}}{{- end -}}
      {{- if and $name (or (ne (len $parts) 3) $blank) -}}
        {{- $next := "write group, artifact and version with colons between them" -}}
        {{- if hasSuffix ".jar" $name -}}
          {{- $next = "move it to `deps.jars`" -}}
        {{- else if eq (len $parts) 4 -}}
          {{- $next = "leave the fourth part out, or name the jar in `deps.jars`: spark-submit knows no classifiers" -}}
        {{- else if eq (len $parts) 2 -}}
          {{- $next = "add the version" -}}
        {{- end -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" $text.path
            "message" "is no `group:artifact:version`, and spark-submit stops at it" "next" $next) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- range $index, $text := dig "deps" "excludePackages" list .spec -}}
    {{- if not (regexMatch "(?s)^[^:]+:[^:]+$" $text) -}}
      {{- template "sparkgen.problem" (dict "facts" $facts
          "path" (concat $facts.root (list "deps" "excludePackages" $index))
          "message" "is no `group:artifact`, and spark-submit stops at it"
          "next" "write group and artifact with one colon between them, without a version") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.isLabelValue" -}}
  {{- if and (le (len .) 63) (regexMatch "^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$" .) -}}true{{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG171" -}}
  {{- $facts := . -}}
  {{- $ui := .spec.sparkUIOptions | default dict -}}
  {{- $maps := list
      (list true (list "metadata" "labels") .value.metadata.labels)
      (list true (concat .root (list "sparkUIOptions" "serviceLabels")) $ui.serviceLabels)
      (list false (list "metadata" "annotations") .value.metadata.annotations)
      (list false (concat .root (list "sparkUIOptions" "serviceAnnotations")) $ui.serviceAnnotations)
      (list false (concat .root (list "serviceAccount" "annotations")) (dig "serviceAccount" "annotations" dict .spec)) -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $spec := get $facts.spec $role | default dict -}}
    {{- range $path := list (list "labels") (list "nodeSelector") (list "template" "metadata" "labels")
        (list "template" "spec" "nodeSelector") (list "annotations") (list "template" "metadata" "annotations") -}}
      {{- $call := dict "from" $spec "path" $path -}}
      {{- template "sparkgen.lookup" $call -}}
      {{- if $call.found -}}
        {{- $maps = append $maps (list (ne (last $path) "annotations") (concat $facts.root (list $role) $path) $call.value) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- range $map := $maps -}}
    {{- range $key, $value := index $map 2 -}}
      {{- $path := append (index $map 1) $key -}}
      {{- template "sparkgen.labelKey" (dict "facts" $facts "path" $path "key" $key) -}}
      {{- if and (index $map 0) (kindIs "string" $value) -}}
        {{- if not (include "sparkgen.isLabelValue" $value) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
              "message" "Kubernetes refuses this value of a label"
              "next" "shorten or change it; a longer text may be an annotation") -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, path, key. */ -}}
{{- define "sparkgen.labelKey" -}}
  {{- $name := regexFind "[^/]*$" .key -}}
  {{- $prefix := trimSuffix (print "/" $name) .key -}}
  {{- if or (gt (len $name) 63) (not (regexMatch "^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$" $name)) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" .path "next" "rename it"
        "message" (printf "`%s` is no name of a label or annotation" (include "sparkgen.shortened" $name))) -}}
  {{- end -}}
  {{- if contains "/" .key -}}
    {{- $domain := "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$" -}}
    {{- if or (gt (len $prefix) 253) (not (regexMatch $domain (lower $prefix))) -}}
      {{- template "sparkgen.problem" (dict "facts" .facts "path" .path "next" "rename it"
          "message" (printf "`%s` is no domain, and what stands before the `/` must be one"
            (include "sparkgen.shortened" $prefix))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG173" -}}
  {{- $facts := . -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $spec := get $facts.spec $role | default dict -}}
    {{- range $path := list (list "tolerations") (list "template" "spec" "tolerations") -}}
      {{- $call := dict "from" $spec "path" $path -}}
      {{- template "sparkgen.lookup" $call -}}
      {{- range $index, $item := $call.found | ternary $call.value list -}}
        {{- $at := concat $facts.root (list $role) $path (list $index) -}}
        {{- if and (eq "Exists" ($item.operator | default "")) $item.value -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $at "value")
              "message" "a toleration with `operator: Exists` has no value"
              "next" "delete `value`, or write `operator: Equal`") -}}
        {{- end -}}
        {{- if and (not $item.key) (ne "Exists" (dig "operator" "Equal" $item)) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" $at
              "message" "a toleration without `key` needs `operator: Exists`"
              "next" "add `key`, or `operator: Exists` to tolerate every taint") -}}
        {{- end -}}
        {{- if and (hasKey $item "tolerationSeconds") (ne "NoExecute" ($item.effect | default "")) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $at "tolerationSeconds")
              "message" "means something with `effect: NoExecute` only"
              "next" "delete it, or write `effect: NoExecute`") -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG180" -}}
  {{- if .scheduled -}}
    {{- template "sparkgen.refused" (dict "facts" . "path" (list "spec" "schedule") "text" .outer.schedule
        "reason" (include "sparkgen.reason.cron" (list .outer.schedule .tables))
        "suffix" (ternary ", and name the zone in `spec.timeZone`" "" (contains "TZ" .outer.schedule)) "example" "\"30 3 * * *\"") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG182" -}}
  {{- if and .scheduled (hasKey .outer "timeZone") -}}
    {{- template "sparkgen.refused" (dict "facts" . "path" (list "spec" "timeZone") "text" .outer.timeZone
        "reason" (include "sparkgen.reason.timezone" (list .outer.timeZone .tables)) "example" "Europe/Berlin") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG184" -}}
  {{- template "sparkgen.texts" (dict
      "facts" . "grammar" "timestamp" "settings" list "example" "\"2026-03-01T06:00:00Z\"") -}}
{{- end -}}

{{- define "sparkgen.rule.SG185" -}}
  {{- $facts := . -}}
  {{- if and (eq "Always" (dig "restartPolicy" "type" "" .spec)) (not .scheduled) -}}
    {{- range $field, $next := .tables.jobFields -}}
      {{- if and (hasKey $facts.spec $field) (ne "false" (get $facts.spec $field | toRawJson)) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $facts.root $field) "next" $next
            "message" "has no effect with `restartPolicy.type: Always`, which makes a Deployment") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG186" -}}
  {{- if and (eq "Always" (dig "restartPolicy" "type" "" .spec)) .scheduled -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "restartPolicy" "type"))
        "message" "a run of a schedule must end, and Kubernetes refuses a Job that always restarts"
        "next" "write `type: OnFailure` with `onFailureRetries`, or make it a SparkApplication") -}}
  {{- end -}}
{{- end -}}
