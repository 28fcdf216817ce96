{{- /* A document of the kind SparkShuffleService (sparkgen/model/shuffle.py, resources/service.py, semantics/rules_service.py). */ -}}

{{- /* The service as values, and its objects. In: facts, namespace, files. Out: app (its values), objects. */ -}}
{{- define "sparkgen.service" -}}
  {{- $facts := .facts -}}
  {{- $spec := $facts.spec -}}
  {{- $t := $facts.tables -}}
  {{- $c := $t.contract -}}
  {{- $runtime := dict "spec" $spec "c" $c -}}
  {{- template "sparkgen.runtime" $runtime -}}
  {{- $app := dict
      "runtime" $runtime.values
      "port" ($spec.port | default $c.SHUFFLE_PORT)
      "directories" ($spec.directories | default (list (printf "%s/%s" $t.shuffleDirectory $facts.value.metadata.name)))
      "component" $c.SHUFFLE_CONTAINER
      "label" $c.LABEL_SHUFFLE_SERVICE
      "heap" ($spec.memory | default $t.serviceHeap) -}}
  {{- template "sparkgen.server" (set . "app" $app) -}}
  {{- template "sparkgen.serviceFiles" $app -}}
  {{- template "sparkgen.serviceValues" (set . "app" $app) -}}
  {{- template "sparkgen.made" (set . "layer" "service") -}}
{{- end -}}

{{- /* What the service's configuration directory holds. In: app. Out: app.conf. */ -}}
{{- define "sparkgen.serviceFiles" -}}
  {{- $all := dict "maps" (list .spec.sparkConf (dict
      "spark.shuffle.service.port" (toRawJson .port)
      "spark.shuffle.service.enabled" "true"
      "spark.shuffle.service.db.enabled" "true"
      "spark.local.dir" (join "," .directories)
      "spark.authenticate" (ternary "true" "false" (hasKey .spec "secretName")))) -}}
  {{- template "sparkgen.laid" $all -}}
  {{- $conf := dict .c.LOG4J2_FILE (include "sparkgen.log4j2" .) .c.SPARK_DEFAULTS_FILE (include "sparkgen.propertyLines" $all.laid) -}}
  {{- with dig "monitoring" "metricsProperties" "" .spec -}}{{- $_ := set $conf $.c.METRICS_FILE . -}}{{- end -}}
  {{- $_ := set . "conf" $conf -}}
{{- end -}}

{{- /* The values of its objects' layers. In: app. Out: values. */ -}}
{{- define "sparkgen.serviceValues" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $mounts := list -}}
  {{- $volumes := list -}}
  {{- range $index, $path := $app.directories -}}
    {{- $volume := printf "%s%d" $c.SHUFFLE_VOLUME_PREFIX $index -}}
    {{- $mounts = append $mounts (dict "name" $volume "mountPath" $path) -}}
    {{- $volumes = append $volumes (dict "name" $volume "hostPath" (dict "path" $path "type" "DirectoryOrCreate")) -}}
  {{- end -}}
  {{- $janitor := dict "maps" (list $t.janitorDefaults $app.spec.janitor) -}}
  {{- template "sparkgen.laid" $janitor -}}
  {{- $texts := dict -}}
  {{- range $key := keys $t.janitorDefaults -}}
    {{- $_ := set $texts $key (get $janitor.laid $key | toRawJson) -}}
  {{- end -}}
  {{- $small := dict "base" $t.runtimeResources "over" ($janitor.laid.resources | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $small -}}
  {{- $resources := dict "memory" $app.memory "requests" $t.serviceRequest "tables" $t -}}
  {{- template "sparkgen.daemonResources" (set $resources "over" ($app.spec.resources | default dict)) -}}
  {{- template "sparkgen.serverValues" . -}}
  {{- range $key, $value := $app.runtime -}}{{- $_ := set $.values $key $value -}}{{- end -}}
  {{- range $key, $value := dict
      "maxUnavailable" (hasKey $app.spec "maxUnavailable" | ternary $app.spec.maxUnavailable 1)
      "runtimeResources" $small.value
      "resources" $resources.value
      "port" $app.port
      "secretName" ($app.spec.secretName | default "")
      "directories" (join "," $app.directories)
      "directoryVolumes" $volumes
      "directoryMounts" $mounts
      "janitorPort" $janitor.laid.port
      "janitor" $texts -}}
    {{- $_ := set $.values $key $value -}}
  {{- end -}}
  {{- if $app.spec.hostNetwork -}}
    {{- $_ := set (set .values "hostNetwork" true) "dnsPolicy" "ClusterFirstWithHostNet" -}}
  {{- end -}}
{{- end -}}
