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

{{- /* The janitor's right to see the drivers. In: app. In, out: objects. */ -}}
{{- define "sparkgen.janitorAccess" -}}
  {{- $app := .app -}}
  {{- if dig "shuffle" "onNode" false $app -}}
    {{- $name := printf "%s-shuffle-janitor" $app.name -}}
    {{- $call := dict "app" $app "name" $name -}}
    {{- template "sparkgen.metadata" $call -}}
    {{- $role := dict
        "apiVersion" "rbac.authorization.k8s.io/v1" "kind" "Role"
        "metadata" $call.metadata "rules" $app.t.shuffleJanitorRules -}}
    {{- $binding := dict
        "apiVersion" "rbac.authorization.k8s.io/v1" "kind" "RoleBinding" "metadata" $call.metadata
        "roleRef" (dict "apiGroup" "rbac.authorization.k8s.io" "kind" "Role" "name" $name)
        "subjects" (list (dict
          "kind" "ServiceAccount" "name" $app.shuffle.name "namespace" $app.shuffle.namespace)) -}}
    {{- $_ := set . "objects" (concat .objects (list $role $binding)) -}}
  {{- end -}}
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

{{- /* The section of an application that uses the service of its node; an empty dictionary has none. In: facts. Out: facts.onNode, facts.section. */ -}}
{{- define "sparkgen.onNode" -}}
  {{- $section := get .spec "shuffleService" | default dict -}}
  {{- $_ := set . "section" $section -}}
  {{- $_ := set . "onNode" (and (hasKey .spec "shuffleService") (eq "daemonset" ($section.mode | default "daemonset"))) -}}
{{- end -}}

{{- define "sparkgen.rule.SG143" -}}
  {{- template "sparkgen.onNode" . -}}
  {{- if and .onNode (not (hasKey .section "name")) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "shuffleService")
        "message" "the mode `daemonset` needs the name of the service"
        "next" "add `name:` with the `metadata.name` of the SparkShuffleService, or write `mode: sidecar`") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG144" -}}
  {{- template "sparkgen.onNode" . -}}
  {{- if and .onNode (hasKey .section "name") -}}
    {{- $authenticates := include "sparkgen.on" (list . "spark.authenticate" true) -}}
    {{- if and $authenticates (not (hasKey .section "secretName")) -}}
      {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "shuffleService")
          "message" "each run has a secret of its own, which the service cannot know, and no executor can register"
          "next" "add `secretName:` with a Secret that has the service's value; or, for a service without a secret, set `spark.authenticate: \"false\"` in `sparkConf`") -}}
    {{- end -}}
    {{- if and (not $authenticates) (hasKey .section "secretName") -}}
      {{- template "sparkgen.problemAt" (dict "facts" . "name" "spark.authenticate"
          "message" "the service has a secret, and refuses executors that do not authenticate"
          "next" "delete it, or delete `secretName` if the service has none") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG145" -}}
  {{- template "sparkgen.onNode" . -}}
  {{- if .onNode -}}
    {{- $text := .section.hostPorts | default .tables.shuffleHostPorts -}}
    {{- $port := .section.port | default .tables.contract.SHUFFLE_PORT -}}
    {{- $range := splitList "-" $text -}}
    {{- $first := first $range | atoi -}}
    {{- $last := last $range | atoi -}}
    {{- $field := ternary "hostPorts" "port" (hasKey .section "hostPorts") -}}
    {{- $path := concat .root (list "shuffleService" $field) -}}
    {{- if or (gt $first $last) (lt $first 1024) (gt $last 65535) -}}
      {{- template "sparkgen.problem" (dict "facts" . "path" $path
          "message" "is no range of ports" "next" "write it as in `hostPorts: 23000-23999`") -}}
    {{- else if and (le $first (int $port)) (le (int $port) $last) -}}
      {{- template "sparkgen.problem" (dict "facts" . "path" $path
          "message" (printf "the service's port, %s, is one of those for executors, %s" (toRawJson $port) $text)
          "next" "choose a range without the service's port") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG158" -}}
  {{- template "sparkgen.onNode" . -}}
  {{- if .onNode -}}
    {{- template "sparkgen.nested" (dict "facts" . "path" (concat .root (list "shuffleService" "directories"))
        "directories" (.section.directories | default list)) -}}
  {{- end -}}
{{- end -}}

{{- /* Directories that are the same, or one below another. In: facts, path, directories. */ -}}
{{- define "sparkgen.nested" -}}
  {{- $before := list -}}
  {{- range $index, $directory := .directories -}}
    {{- $other := "" -}}
    {{- range $one := $before -}}
      {{- $related := or (hasPrefix (print $one "/") (print $directory "/")) (hasPrefix (print $directory "/") (print $one "/")) -}}
      {{- if and $related (not $other) -}}{{- $other = $one -}}{{- end -}}
    {{- end -}}
    {{- if $other -}}
      {{- template "sparkgen.problem" (dict "facts" $.facts "path" (append $.path $index)
          "message" (printf "and `%s` are one directory, or one lies in the other" $other)
          "next" "give each disk one directory, apart from the others") -}}
    {{- end -}}
    {{- $before = append $before $directory -}}
  {{- end -}}
{{- end -}}
