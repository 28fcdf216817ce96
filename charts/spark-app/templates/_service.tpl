{{- /* A document of the kind SparkShuffleService (sparkgen/model/shuffle.py, resources/service.py, semantics/rules_service.py). */ -}}

{{- /* The service as values, and its objects. In: facts, namespace, files. Out: app (its values), objects. */ -}}
{{- define "sparkgen.service" -}}
  {{- $facts := .facts -}}
  {{- $spec := $facts.spec -}}
  {{- $t := $facts.tables -}}
  {{- $c := $t.contract -}}
  {{- $metadata := $facts.value.metadata -}}
  {{- $name := $metadata.name -}}
  {{- $app := dict
      "runtimeImage" ($spec.runtimeImage | default $c.RUNTIME_IMAGE)
      "port" ($spec.port | default $c.SHUFFLE_PORT)
      "directories" ($spec.directories | default (list (printf "%s/%s" $t.shuffleDirectory $name)))
      "janitor" ($spec.janitor | default dict)
      "janitorPort" (dig "janitor" "port" $c.JANITOR_PORT $spec)
      "component" $c.SHUFFLE_CONTAINER
      "label" $c.LABEL_SHUFFLE_SERVICE
      "heap" ($spec.memory | default $t.serviceHeap) -}}
  {{- template "sparkgen.server" (set . "app" $app) -}}
  {{- $mounts := list -}}
  {{- $volumes := list -}}
  {{- range $index, $path := $app.directories -}}
    {{- $volume := printf "%s%d" $c.SHUFFLE_VOLUME_PREFIX $index -}}
    {{- $mounts = append $mounts (dict "name" $volume "mountPath" $path) -}}
    {{- $volumes = append $volumes (dict "name" $volume "hostPath" (dict "path" $path "type" "DirectoryOrCreate")) -}}
  {{- end -}}
  {{- $_ := set $app "mounts" $mounts -}}
  {{- $_ := set $app "volumes" $volumes -}}
  {{- template "sparkgen.serviceFiles" $app -}}
  {{- $made := dict "app" $app "objects" list -}}
  {{- template "sparkgen.serviceNeighbours" $made -}}
  {{- template "sparkgen.daemonSet" $made -}}
  {{- $objects := list -}}
  {{- range $object := append $made.objects $made.object -}}
    {{- $call := dict "object" $object "app" $app -}}
    {{- template "sparkgen.forTarget" $call -}}
    {{- $objects = append $objects $call.object -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
  {{- $_ := set . "app" $app -}}
{{- end -}}

{{- /* What the service's configuration directory holds. In: app. Out: app.conf. */ -}}
{{- define "sparkgen.serviceFiles" -}}
  {{- $all := omit (.spec.sparkConf | default dict) -}}
  {{- range $name, $text := dict
      "spark.shuffle.service.port" (toRawJson .port)
      "spark.shuffle.service.enabled" "true"
      "spark.shuffle.service.db.enabled" "true"
      "spark.local.dir" (join "," .directories)
      "spark.authenticate" (ternary "true" "false" (hasKey .spec "secretName")) -}}
    {{- $_ := set $all $name $text -}}
  {{- end -}}
  {{- $conf := dict .c.LOG4J2_FILE (include "sparkgen.log4j2" .) .c.SPARK_DEFAULTS_FILE (include "sparkgen.propertyLines" $all) -}}
  {{- with dig "monitoring" "metricsProperties" "" .spec -}}{{- $_ := set $conf $.c.METRICS_FILE . -}}{{- end -}}
  {{- $_ := set . "conf" $conf -}}
{{- end -}}

{{- /* The account, the configuration and the network policy. In: app. In, out: objects. */ -}}
{{- define "sparkgen.serviceNeighbours" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- template "sparkgen.serverBasis" . -}}
  {{- $objects := .objects -}}
  {{- $policy := $app.spec.networkPolicy | default dict -}}
  {{- if and (hasKey $app.spec "networkPolicy") (not (and (hasKey $policy "enabled") (not $policy.enabled))) -}}
    {{- $call := dict "app" $app "name" $app.name -}}
    {{- template "sparkgen.serverMetadata" $call -}}
    {{- $rule := dict "ports" (list (dict "protocol" "TCP" "port" $app.port)) -}}
    {{- with $policy.ingressFrom -}}{{- $_ := set $rule "from" . -}}{{- end -}}
    {{- $rules := list $rule -}}
    {{- with $policy.metricsFrom -}}
      {{- $rules = append $rules (dict "from" . "ports" (list (dict "protocol" "TCP" "port" $app.janitorPort))) -}}
    {{- end -}}
    {{- $objects = append $objects (dict
        "apiVersion" "networking.k8s.io/v1" "kind" "NetworkPolicy" "metadata" $call.metadata
        "spec" (dict
          "podSelector" (dict "matchLabels" (dict $c.LABEL_SHUFFLE_SERVICE $app.name))
          "policyTypes" (list "Ingress")
          "ingress" $rules)) -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}

{{- /* In: app. Out: object. */ -}}
{{- define "sparkgen.daemonSet" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $picked := dict "source" $app.spec "names" (list "nodeSelector" "affinity" "tolerations" "priorityClassName") -}}
  {{- template "sparkgen.picked" $picked -}}
  {{- $spec := $picked.picked -}}
  {{- template "sparkgen.serviceContainers" . -}}
  {{- template "sparkgen.serverPodMetadata" . -}}
  {{- range $key, $value := dict
      "serviceAccountName" $app.account
      "automountServiceAccountToken" false
      "enableServiceLinks" false
      "securityContext" (dict "fsGroup" $t.sparkUser "seccompProfile" (dict "type" "RuntimeDefault"))
      "terminationGracePeriodSeconds" 30
      "initContainers" (list .prepare)
      "containers" (list .shuffle .janitor)
      "volumes" (append (append $app.volumes
        (dict "name" $c.CONF_VOLUME "configMap" (dict "name" (printf "%s-conf" $app.name))))
        (dict "name" $c.TOKEN_VOLUME "projected" (dict "sources" $t.tokenSources))) -}}
    {{- $_ := set $spec $key $value -}}
  {{- end -}}
  {{- if $app.spec.hostNetwork -}}
    {{- $_ := set $spec "hostNetwork" true -}}
    {{- $_ := set $spec "dnsPolicy" "ClusterFirstWithHostNet" -}}
  {{- end -}}
  {{- with $app.pullSecrets -}}{{- $_ := set $spec "imagePullSecrets" . -}}{{- end -}}
  {{- $unavailable := 1 -}}
  {{- if hasKey $app.spec "maxUnavailable" -}}{{- $unavailable = $app.spec.maxUnavailable -}}{{- end -}}
  {{- $call := dict "app" $app "name" $app.name -}}
  {{- template "sparkgen.serverMetadata" $call -}}
  {{- $_ := set . "object" (dict
      "apiVersion" "apps/v1" "kind" "DaemonSet" "metadata" $call.metadata
      "spec" (dict
        "selector" (dict "matchLabels" (dict $c.LABEL_SHUFFLE_SERVICE $app.name))
        "updateStrategy" (dict
          "type" "RollingUpdate" "rollingUpdate" (dict "maxUnavailable" $unavailable))
        "template" (dict
          "metadata" .podMetadata
          "spec" $spec))) -}}
{{- end -}}

{{- /* In: app. Out: prepare, shuffle, janitor. */ -}}
{{- define "sparkgen.serviceContainers" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $env := list
      (dict "name" $c.ENV_CONTRACT "value" (toRawJson $c.VERSION))
      (dict "name" $c.ENV_JANITOR_DIRECTORIES "value" (join "," $app.directories)) -}}
  {{- $small := dict "base" $t.runtimeResources "over" ($app.janitor.resources | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $small -}}
  {{- $prepare := dict
      "name" $c.PREPARE_CONTAINER
      "image" $app.runtimeImage
      "args" (list "janitor" "prepare")
      "env" $env
      "resources" $small.value
      "securityContext" $t.serviceAsRoot
      "volumeMounts" $app.mounts -}}

  {{- $own := $app.daemonEnv -}}
  {{- with $app.spec.secretName -}}
    {{- $own = append $own (include "sparkgen.secretEnv" (list $c.ENV_AUTH_SECRET . $c.SECRET_KEY) | fromJson) -}}
  {{- end -}}
  {{- if $app.spec.hostNetwork -}}
    {{- $own = append $own (include "sparkgen.fieldEnv" (list $c.ENV_LOCAL_IP "status.podIP") | fromJson) -}}
  {{- end -}}
  {{- $answers := dict "tcpSocket" (dict "port" $app.port) -}}
  {{- $resources := dict "memory" $app.memory "requests" $t.serviceRequest "tables" $t -}}
  {{- template "sparkgen.daemonResources" (set $resources "over" ($app.spec.resources | default dict)) -}}
  {{- $shuffle := dict
      "name" $c.SHUFFLE_CONTAINER
      "image" $app.spec.image
      "args" $t.serviceArgs
      "env" $own
      "ports" (list (dict "name" "shuffle" "containerPort" $app.port "hostPort" $app.port))
      "startupProbe" (set (set (omit $answers) "periodSeconds" 1) "failureThreshold" 120)
      "readinessProbe" (set (omit $answers) "periodSeconds" 5)
      "livenessProbe" (set (set (omit $answers) "periodSeconds" 10) "failureThreshold" 6)
      "resources" $resources.value
      "securityContext" $t.serviceAsSpark
      "volumeMounts" (append $app.mounts
        (dict "name" $c.CONF_VOLUME "mountPath" $c.CONF_DIR "readOnly" true)) -}}

  {{- range $item := list
      (list $c.ENV_JANITOR_INTERVAL "intervalSeconds" 30)
      (list $c.ENV_JANITOR_GRACE "graceSeconds" 300)
      (list $c.ENV_JANITOR_UNKNOWN "withoutAccessSeconds" 86400)
      (list $c.ENV_JANITOR_PRESSURE "pressurePercent" 85)
      (list $c.ENV_JANITOR_PORT "port" $c.JANITOR_PORT) -}}
    {{- $number := index $item 2 -}}
    {{- if hasKey $app.janitor (index $item 1) -}}{{- $number = get $app.janitor (index $item 1) -}}{{- end -}}
    {{- $env = append $env (dict "name" (index $item 0) "value" (toRawJson $number)) -}}
  {{- end -}}
  {{- $env = append $env (dict
      "name" $c.ENV_JANITOR_DRY_RUN "value" (ternary "true" "false" (default false $app.janitor.dryRun))) -}}
  {{- $env = append $env (include "sparkgen.fieldEnv" (list $c.ENV_NODE_NAME "spec.nodeName") | fromJson) -}}
  {{- $janitor := dict
      "name" $c.JANITOR_CONTAINER
      "image" $app.runtimeImage
      "args" (list "janitor")
      "env" $env
      "ports" (list (dict "name" $c.JANITOR_CONTAINER "containerPort" $app.janitorPort))
      "livenessProbe" (dict
        "httpGet" (dict "path" $c.HEALTH_PATH "port" $app.janitorPort) "periodSeconds" 10 "failureThreshold" 6)
      "resources" $small.value
      "securityContext" (set (omit $t.serviceAsSpark) "readOnlyRootFilesystem" true)
      "volumeMounts" (append $app.mounts
        (dict "name" $c.TOKEN_VOLUME "mountPath" $c.TOKEN_DIR "readOnly" true)) -}}
  {{- range $container := list $prepare $shuffle $janitor -}}
    {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $container "imagePullPolicy" . -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "prepare" $prepare -}}
  {{- $_ := set . "shuffle" $shuffle -}}
  {{- $_ := set . "janitor" $janitor -}}
{{- end -}}
