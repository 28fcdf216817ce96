{{- /* A document of the kind SparkHistoryServer (sparkgen/model/historyserver.py, resources/historyserver.py). */ -}}

{{- /* The server as values, and its objects. In: facts, namespace, files. Out: app (its values), objects. */ -}}
{{- define "sparkgen.historyServer" -}}
  {{- $spec := .facts.spec -}}
  {{- $t := .facts.tables -}}
  {{- $c := $t.contract -}}
  {{- $log := dict "section" $spec.eventLog -}}
  {{- template "sparkgen.logClaim" $log -}}
  {{- $cleaner := $spec.cleaner | default dict -}}
  {{- $app := dict
      "component" $c.HISTORY_SERVER_CONTAINER
      "label" $c.LABEL_HISTORY_SERVER
      "heap" ($spec.memory | default $t.historyHeap)
      "ui" ($spec.sparkUIOptions | default dict)
      "cleans" (and (hasKey $spec "cleaner") (not (and (hasKey $cleaner "enabled") (not $cleaner.enabled)))) -}}
  {{- if hasKey $log "claim" -}}{{- $_ := set $app "claim" $log.claim -}}{{- end -}}
  {{- template "sparkgen.server" (set . "app" $app) -}}
  {{- template "sparkgen.historyFiles" $app -}}
  {{- $made := dict "app" $app "objects" list -}}
  {{- template "sparkgen.serverBasis" $made -}}
  {{- template "sparkgen.historyNeighbours" $made -}}
  {{- template "sparkgen.historyDeployment" $made -}}
  {{- $objects := list -}}
  {{- range $object := append $made.objects $made.object -}}
    {{- $call := dict "object" $object "app" $app -}}
    {{- template "sparkgen.forTarget" $call -}}
    {{- $objects = append $objects $call.object -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}

{{- /* What the server's configuration directory holds. In: app. Out: app.conf. */ -}}
{{- define "sparkgen.historyFiles" -}}
  {{- $redirect := dict "ui" .ui "t" .t -}}
  {{- template "sparkgen.redirectProperties" $redirect -}}
  {{- $all := omit $redirect.properties -}}
  {{- range $name, $text := .spec.sparkConf -}}{{- $_ := set $all $name $text -}}{{- end -}}
  {{- range $name, $text := .spec.hadoopConf -}}{{- $_ := set $all (printf "spark.hadoop.%s" $name) $text -}}{{- end -}}
  {{- if hasKey .spec "cleaner" -}}
    {{- $cleaner := .spec.cleaner -}}
    {{- range $field, $name := .t.cleanerProperties -}}
      {{- if hasKey $cleaner $field -}}
        {{- $_ := set $all $name (include "sparkgen.propertyText" (get $cleaner $field)) -}}
      {{- end -}}
    {{- end -}}
    {{- $_ := set $all "spark.history.fs.cleaner.enabled" (ternary "true" "false" .cleans) -}}
  {{- end -}}
  {{- $_ := set $all "spark.history.fs.logDirectory" .spec.eventLog.dir -}}
  {{- $_ := set $all "spark.history.ui.port" (toRawJson .c.HISTORY_PORT) -}}
  {{- $_ := set . "properties" $all -}}
  {{- $_ := set . "conf" (dict
      .c.LOG4J2_FILE (include "sparkgen.log4j2" .)
      .c.SPARK_DEFAULTS_FILE (include "sparkgen.propertyLines" $all)) -}}
{{- end -}}

{{- /* The network policy and the Service. In: app. In, out: objects. */ -}}
{{- define "sparkgen.historyNeighbours" -}}
  {{- $app := .app -}}
  {{- $port := $app.c.HISTORY_PORT -}}
  {{- $objects := .objects -}}
  {{- $policy := $app.spec.networkPolicy | default dict -}}
  {{- if and (hasKey $app.spec "networkPolicy") (not (and (hasKey $policy "enabled") (not $policy.enabled))) -}}
    {{- $call := dict "app" $app "name" $app.name -}}
    {{- template "sparkgen.serverMetadata" $call -}}
    {{- $objects = append $objects (dict
        "apiVersion" "networking.k8s.io/v1" "kind" "NetworkPolicy" "metadata" $call.metadata
        "spec" (dict
          "podSelector" (dict "matchLabels" $app.selector)
          "policyTypes" (list "Ingress")
          "ingress" (list (dict
            "from" ($policy.ingressFrom | default (list (dict "podSelector" dict)))
            "ports" (list (dict "protocol" "TCP" "port" $port)))))) -}}
  {{- end -}}
  {{- $call := dict "app" $app "name" $app.name -}}
  {{- template "sparkgen.serverMetadata" $call -}}
  {{- $plain := deepCopy $call.metadata -}}
  {{- $labels := omit ($app.ui.serviceLabels | default dict) -}}
  {{- range $key, $text := $call.metadata.labels -}}{{- $_ := set $labels $key $text -}}{{- end -}}
  {{- $_ := set $call.metadata "labels" $labels -}}
  {{- if $app.ui.serviceAnnotations -}}
    {{- $annotations := $call.metadata.annotations | default dict -}}
    {{- range $key, $text := $app.ui.serviceAnnotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
    {{- $_ := set $call.metadata "annotations" $annotations -}}
  {{- end -}}
  {{- $service := (dict
      "apiVersion" "v1" "kind" "Service" "metadata" $call.metadata
      "spec" (dict
        "type" ($app.ui.serviceType | default "ClusterIP")
        "selector" $app.selector
        "ports" (list (dict
          "name" $app.t.historyPortName "port" ($app.ui.servicePort | default $port)
          "targetPort" $app.t.historyPortName)))) -}}
  {{- $outside := dict "ui" $app.ui "service" $service "t" $app.t "metadata" $plain -}}
  {{- template "sparkgen.exposures" $outside -}}
  {{- $_ := set . "objects" (concat $objects (list $service) $outside.objects) -}}
{{- end -}}

{{- /* In: app. Out: object. */ -}}
{{- define "sparkgen.historyDeployment" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $security := omit $t.podSecurity -}}
  {{- if hasKey $app "claim" -}}{{- $_ := set $security "fsGroupChangePolicy" "OnRootMismatch" -}}{{- end -}}
  {{- $merged := dict "base" $security "over" ($app.spec.podSecurityContext | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $merged -}}
  {{- $picked := dict "source" $app.spec "names" (list "nodeSelector" "affinity" "tolerations" "priorityClassName") -}}
  {{- template "sparkgen.picked" $picked -}}
  {{- $spec := $picked.picked -}}
  {{- template "sparkgen.historyContainer" . -}}
  {{- template "sparkgen.serverPodMetadata" . -}}
  {{- range $key, $value := dict
      "serviceAccountName" $app.account
      "automountServiceAccountToken" false
      "enableServiceLinks" false
      "securityContext" $merged.value
      "containers" (list .container)
      "volumes" .volumes -}}
    {{- $_ := set $spec $key $value -}}
  {{- end -}}
  {{- with $app.pullSecrets -}}{{- $_ := set $spec "imagePullSecrets" . -}}{{- end -}}
  {{- $call := dict "app" $app "name" $app.name -}}
  {{- template "sparkgen.serverMetadata" $call -}}
  {{- $_ := set . "object" (dict
      "apiVersion" "apps/v1" "kind" "Deployment" "metadata" $call.metadata
      "spec" (dict
        "replicas" 1
        "strategy" (dict "type" (ternary "Recreate" "RollingUpdate" (hasKey $app "claim")))
        "selector" (dict "matchLabels" $app.selector)
        "template" (dict "metadata" .podMetadata "spec" $spec))) -}}
{{- end -}}

{{- /* In: app. Out: container, volumes. */ -}}
{{- define "sparkgen.historyContainer" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $env := $app.daemonEnv -}}
  {{- $mounts := list
      (dict "name" $c.CONF_VOLUME "mountPath" $c.CONF_DIR "readOnly" true)
      (dict "name" $c.SCRATCH_VOLUME "mountPath" $t.historyTemporary) -}}
  {{- $volumes := list
      (dict "name" $c.CONF_VOLUME "configMap" (dict "name" (printf "%s-conf" $app.name)))
      (dict "name" $c.SCRATCH_VOLUME "emptyDir" dict) -}}
  {{- if hasKey $app "claim" -}}
    {{- $mount := dict "name" $c.EVENT_LOG_VOLUME "mountPath" $app.claim.path -}}
    {{- if not $app.cleans -}}{{- $_ := set $mount "readOnly" true -}}{{- end -}}
    {{- $mounts = append $mounts $mount -}}
    {{- $volumes = append $volumes (dict
        "name" $c.EVENT_LOG_VOLUME "persistentVolumeClaim" (dict "claimName" $app.claim.name)) -}}
  {{- end -}}
  {{- range $secret := $app.spec.secrets -}}
    {{- $name := include "sparkgen.volumeName" (list $c.VOLUME_PREFIX "secret" $secret.name) -}}
    {{- $volumes = append $volumes (dict "name" $name "secret" (dict "secretName" $secret.name)) -}}
    {{- $mounts = append $mounts (dict "name" $name "mountPath" $secret.path "readOnly" true) -}}
    {{- with get $t.secretTypes ($secret.secretType | default "Generic") -}}
      {{- $file := printf "%s/%s" (regexReplaceAll "/+$" $secret.path "") (index . 1) -}}
      {{- $env = append $env (dict "name" (index . 0) "value" $file) -}}
    {{- end -}}
  {{- end -}}
  {{- $answers := dict "httpGet" (dict "path" "/" "port" $c.HISTORY_PORT) -}}
  {{- if hasKey $app.properties $t.historyFilters -}}
    {{- $answers = dict "tcpSocket" (dict "port" $c.HISTORY_PORT) -}}
  {{- end -}}
  {{- $resources := dict "memory" $app.memory "requests" $t.historyRequest "tables" $t -}}
  {{- template "sparkgen.daemonResources" (set $resources "over" ($app.spec.resources | default dict)) -}}
  {{- $container := dict
      "name" $c.HISTORY_SERVER_CONTAINER
      "image" $app.spec.image
      "args" $t.historyArgs
      "env" (concat $env ($app.spec.env | default list))
      "ports" (list (dict "name" $t.historyPortName "containerPort" $c.HISTORY_PORT))
      "startupProbe" (merge (dict "periodSeconds" 2 "failureThreshold" 90) $answers)
      "readinessProbe" (merge (dict "periodSeconds" 10 "timeoutSeconds" 5) $answers)
      "livenessProbe" (merge (dict "periodSeconds" 20 "timeoutSeconds" 10 "failureThreshold" 6) $answers)
      "resources" $resources.value
      "securityContext" (set (omit $t.restricted) "readOnlyRootFilesystem" true)
      "volumeMounts" $mounts -}}
  {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $container "imagePullPolicy" . -}}{{- end -}}
  {{- with $app.spec.envFrom -}}{{- $_ := set $container "envFrom" . -}}{{- end -}}
  {{- $_ := set . "container" $container -}}
  {{- $_ := set . "volumes" $volumes -}}
{{- end -}}
