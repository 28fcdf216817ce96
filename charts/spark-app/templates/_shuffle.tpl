{{- /* An application's shuffle service (sparkgen/model/shuffle.py, resources/shuffle.py, semantics/rules_shuffle.py). */ -}}

{{- /* `app.shuffle`, where the document has a shuffle service. In, out: app. */ -}}
{{- define "sparkgen.shuffle" -}}
  {{- if hasKey .spec "shuffleService" -}}
    {{- template "sparkgen.shuffleOf" (dict "app" . "section" (.spec.shuffleService | default dict)) -}}
  {{- end -}}
{{- end -}}

{{- /* In: app, section. Out: app.shuffle. */ -}}
{{- define "sparkgen.shuffleOf" -}}
  {{- $app := .app -}}
  {{- $section := .section -}}
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

{{- /* The heap of one of Spark's daemons, and what its container needs, in MiB. In: heap (text), tables. Out: value, memory. */ -}}
{{- define "sparkgen.daemonMemory" -}}
  {{- $call := dict "text" .heap "tables" .tables -}}
  {{- template "sparkgen.mib" $call -}}
  {{- if $call.error -}}{{- fail (printf "the memory %s is larger than Spark can count: write a smaller one" .heap) -}}{{- end -}}
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

{{- /* A variable with the value of a Secret's key. Dot: (list name secret key), as JSON. */ -}}
{{- define "sparkgen.secretEnv" -}}
  {{- dict "name" (index . 0) "valueFrom" (dict "secretKeyRef" (dict "name" (index . 1) "key" (index . 2))) | toRawJson -}}
{{- end -}}

{{- define "sparkgen.step.shuffle_service" -}}
  {{- $_ := set . "value" dict -}}
  {{- if dig "shuffle" "onNode" false .app -}}
    {{- template "sparkgen.besideServiceOfNode" . -}}
  {{- else if hasKey .app "shuffle" -}}
    {{- template "sparkgen.shuffleSidecar" . -}}
    {{- $_ := set . "value" (dict "spec" (dict "initContainers" (list .sidecar))) -}}
  {{- end -}}
{{- end -}}

{{- /* In: app, role. Out: value. */ -}}
{{- define "sparkgen.besideServiceOfNode" -}}
  {{- $c := .app.c -}}
  {{- $shuffle := .app.shuffle -}}
  {{- $folder := printf "$(%s)" $c.ENV_SHUFFLE_FOLDER -}}
  {{- $mounts := list -}}
  {{- $volumes := list -}}
  {{- $places := list -}}
  {{- range $index, $path := $shuffle.directories -}}
    {{- $name := printf "%s%d" $c.SHUFFLE_VOLUME_PREFIX $index -}}
    {{- $place := printf "%s/%s" $path $folder -}}
    {{- $places = append $places $place -}}
    {{- $mounts = append $mounts (dict "name" $name "mountPath" $place "subPath" $folder) -}}
    {{- $volumes = append $volumes (dict "name" $name "hostPath" (dict "path" $path "type" "Directory")) -}}
  {{- end -}}
  {{- $required := "requiredDuringSchedulingIgnoredDuringExecution" -}}
  {{- $terms := dig "affinity" "podAffinity" $required list .role.spec -}}
  {{- if not $terms -}}
    {{- $terms = dig "template" "spec" "affinity" "podAffinity" $required list .role.spec -}}
  {{- end -}}
  {{- $terms = append $terms (dict
      "labelSelector" (dict "matchLabels" (dict $c.LABEL_SHUFFLE_SERVICE $shuffle.name))
      "namespaces" (list $shuffle.namespace)
      "topologyKey" "kubernetes.io/hostname") -}}
  {{- $env := list
      (include "sparkgen.fieldEnv" (list $c.ENV_EXECUTOR_HOST "status.hostIP") | fromJson)
      (dict "name" $c.ENV_SHUFFLE_PORT "value" (toRawJson $shuffle.port))
      (dict "name" $c.ENV_LOCAL_DIRS "value" (join "," $places)) -}}
  {{- if $shuffle.hostNetwork -}}
    {{- $env = append $env (include "sparkgen.fieldEnv" (list $c.ENV_LOCAL_IP "status.podIP") | fromJson) -}}
  {{- end -}}
  {{- template "sparkgen.main" (set . "fields" (dict
      "args" (list "bash" (printf "%s/%s" $c.CONF_DIR $c.SHUFFLE_SCRIPT_FILE))
      "env" $env
      "volumeMounts" $mounts)) -}}
  {{- $_ := set .value.spec "affinity" (dict "podAffinity" (dict $required $terms)) -}}
  {{- $_ := set .value.spec "volumes" $volumes -}}
  {{- if $shuffle.hostNetwork -}}
    {{- $_ := set .value.spec "hostNetwork" true -}}
    {{- $_ := set .value.spec "dnsPolicy" "ClusterFirstWithHostNet" -}}
  {{- end -}}
  {{- $_ := set .value "metadata" (dict "annotations" (dict $c.ANNOTATION_BLOCK_MANAGER_PORTS $shuffle.hostPorts)) -}}
{{- end -}}

{{- /* The service as a native sidecar. In: app, role. Out: sidecar. */ -}}
{{- define "sparkgen.shuffleSidecar" -}}
  {{- $c := .app.c -}}
  {{- $shuffle := .app.shuffle -}}
  {{- $template := dict "app" .app "role" .role -}}
  {{- template "sparkgen.step.template" $template -}}
  {{- $own := first ($template.value.spec.containers | default (list dict)) -}}
  {{- $places := list -}}
  {{- $given := dict -}}
  {{- range $mount := concat ($own.volumeMounts | default list) (.role.spec.volumeMounts | default list) -}}
    {{- if hasPrefix $c.LOCAL_DIR_VOLUME_PREFIX $mount.name -}}
      {{- if not (hasKey $given $mount.mountPath) -}}{{- $places = append $places $mount.mountPath -}}{{- end -}}
      {{- $_ := set $given $mount.mountPath $mount -}}
    {{- end -}}
  {{- end -}}
  {{- if not $places -}}
    {{- $places = list $c.SCRATCH_DIR -}}
    {{- $_ := set $given $c.SCRATCH_DIR (dict "name" $c.SCRATCH_VOLUME "mountPath" $c.SCRATCH_DIR) -}}
  {{- end -}}
  {{- $mounts := list -}}
  {{- range $place := $places -}}{{- $mounts = append $mounts (get $given $place) -}}{{- end -}}
  {{- $authenticate := dig "spark.authenticate" "true" .app.properties -}}
  {{- $resources := dict "memory" $shuffle.memory "requests" .app.t.sidecarRequest "over" $shuffle.resources "tables" .app.t -}}
  {{- template "sparkgen.daemonResources" $resources -}}
  {{- $container := dict
      "name" $c.SHUFFLE_CONTAINER
      "image" .role.image
      "restartPolicy" "Always"
      "args" .app.t.serviceArgs
      "env" (list
        (dict "name" "SPARK_DAEMON_MEMORY" "value" (printf "%dm" $shuffle.heap))
        (dict "name" "SPARK_SHUFFLE_OPTS" "value" (printf
          "-Dspark.shuffle.service.port=%s -Dspark.local.dir=%s -Dspark.authenticate=%s"
          (toRawJson $shuffle.port) (join "," $places) $authenticate)))
      "ports" (list (dict "name" "shuffle" "containerPort" $shuffle.port))
      "startupProbe" (dict
        "tcpSocket" (dict "port" $shuffle.port) "periodSeconds" 1 "failureThreshold" 120)
      "resources" $resources.value
      "volumeMounts" $mounts -}}
  {{- with .role.imagePullPolicy -}}{{- $_ := set $container "imagePullPolicy" . -}}{{- end -}}
  {{- $_ := set . "sidecar" $container -}}
{{- end -}}
