{{- /* An application's shuffle service (sparkgen/model/shuffle.py, resources/shuffle.py, semantics/rules_shuffle.py). */ -}}

{{- /* The service that an application asks for. In, out: app. Out: app.shuffle, unless there is none. */ -}}
{{- define "sparkgen.shuffle" -}}
  {{- $app := . -}}
  {{- range $section := pick .spec "shuffleService" -}}
    {{- $name := $section.name | default "" -}}
    {{- $mode := $section.mode | default "daemonset" -}}
    {{- $port := $section.port | default $app.c.SHUFFLE_PORT -}}
    {{- $heap := dict "heap" ($section.sidecarMemory | default $app.t.sidecarHeap) "tables" $app.t -}}
    {{- template "sparkgen.daemonMemory" $heap -}}
    {{- $_ := set $app "shuffle" (dict
        "onNode" (eq $mode "daemonset")
        "name" $name
        "namespace" ($section.namespace | default $app.namespace)
        "port" $port
        "directories" ($section.directories | default (list (printf "%s/%s" $app.t.shuffleDirectory $name)))
        "secretName" ($section.secretName | default "")
        "hostPorts" ($section.hostPorts | default $app.t.shuffleHostPorts)
        "hostNetwork" (default false $section.hostNetwork)
        "heap" $heap.value
        "memory" $heap.memory
        "resources" ($section.sidecarResources | default dict)
        "properties" (dict
          "spark.shuffle.service.enabled" "true"
          "spark.shuffle.service.port" (toRawJson $port)
          "spark.dynamicAllocation.shuffleTracking.enabled" "false"
          "spark.sparkgen.shuffleService.mode" $mode)) -}}
  {{- end -}}
{{- end -}}

{{- /* The heap of one of Spark's daemons, and what its container needs, in MiB. In: heap (text), tables. Out: value, memory. */ -}}
{{- define "sparkgen.daemonMemory" -}}
  {{- $call := dict "text" .heap "tables" .tables -}}
  {{- template "sparkgen.mib" $call -}}
  {{- if $call.error -}}{{- fail (printf "the memory %s is too large for Spark: write a smaller one" .heap) -}}{{- end -}}
  {{- $_ := set . "value" $call.value -}}
  {{- $_ := set . "memory" (add $call.value (max (div $call.value 10) 384)) -}}
{{- end -}}

{{- /* Requests and limits of a daemon's container. In: memory (MiB), requests, over, tables. Out: value. */ -}}
{{- define "sparkgen.daemonResources" -}}
  {{- $memory := printf "%dMi" .memory -}}
  {{- $_ := set . "base" (dict
      "requests" (set (omit .requests) "memory" $memory)
      "limits" (dict "memory" $memory)) -}}
  {{- template "sparkgen.merge" . -}}
{{- end -}}

{{- /* executor.sh; beside a service of its node an executor is known by the node's address. Dot: app. */ -}}
{{- define "sparkgen.executorScript" -}}
  {{- $script := .files.Get "files/executor.sh" -}}
  {{- if dig "shuffle" "onNode" false . -}}
    {{- $script = replace .c.HOSTNAME_OPTION .c.SHUFFLE_HOSTNAME_OPTION $script -}}
  {{- end -}}
  {{- $script -}}
{{- end -}}

{{- /* For the service of an executor's node, or the one beside it. In: app, role. In, out: values. */ -}}
{{- define "sparkgen.shuffleValues" -}}
  {{- $c := .app.c -}}
  {{- $values := .values -}}
  {{- with .app.shuffle -}}
    {{- $_ := set $values "onNode" .onNode -}}
    {{- if .onNode -}}
      {{- $_ := set $values "localDirs" "" -}}
      {{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
      {{- $inside := dig "template" "spec" dict $.role.spec -}}
      {{- $terms := dig "affinity" "podAffinity" $required list $.role.spec -}}
      {{- $_ := set $values "ownTerms" ($terms | default (dig "affinity" "podAffinity" $required list $inside)) -}}
      {{- $folder := printf "$(%s)" $c.ENV_SHUFFLE_FOLDER -}}
      {{- $mounts := list -}}
      {{- $volumes := list -}}
      {{- range $index, $path := .directories -}}
        {{- $name := printf "%s%d" $c.SHUFFLE_VOLUME_PREFIX $index -}}
        {{- $mounts = append $mounts (dict "name" $name "mountPath" (printf "%s/%s" $path $folder) "subPath" $folder) -}}
        {{- $volumes = append $volumes (dict "name" $name "hostPath" (dict "path" $path "type" "Directory")) -}}
      {{- end -}}
      {{- $shuffle := pick . "name" "namespace" "hostPorts" -}}
      {{- $_ := set $shuffle "portText" (toRawJson .port) -}}
      {{- $_ := set $shuffle "places" (print (join (printf "/%s," $folder) .directories) "/" $folder) -}}
      {{- $_ := set (set $shuffle "mounts" $mounts) "volumes" $volumes -}}
      {{- if .hostNetwork -}}
        {{- $_ := set (set $shuffle "hostNetwork" true) "dnsPolicy" "ClusterFirstWithHostNet" -}}
      {{- end -}}
      {{- $_ := set $values "shuffle" $shuffle -}}
    {{- else -}}
      {{- $scratch := list (dict "name" $c.SCRATCH_VOLUME "mountPath" $c.SCRATCH_DIR) -}}
      {{- $resources := dict "memory" .memory "requests" $.app.t.sidecarRequest "over" .resources "tables" $.app.t -}}
      {{- template "sparkgen.daemonResources" $resources -}}
      {{- $options := printf "-Dspark.shuffle.service.port=%s -Dspark.local.dir=%s -Dspark.authenticate=%s"
          (toRawJson .port) $values.localDirs (dig "spark.authenticate" "true" $.app.properties) -}}
      {{- $_ := set $values "sidecar" (dict
          "heap" .heap
          "port" .port
          "options" $options
          "resources" $resources.value
          "mounts" ($values.localDirMounts | default $scratch)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
