{{- /* A document of the kind SparkHistoryServer (sparkgen/model/historyserver.py, resources/historyserver.py). */ -}}

{{- /* The server as values, and its objects. In: facts, namespace, files. Out: app (its values), objects. */ -}}
{{- define "sparkgen.historyServer" -}}
  {{- $spec := .facts.spec -}}
  {{- $t := .facts.tables -}}
  {{- $c := $t.contract -}}
  {{- $log := dict "section" $spec.eventLog -}}
  {{- template "sparkgen.logClaim" $log -}}
  {{- $app := dict
      "component" $c.HISTORY_SERVER_CONTAINER
      "label" $c.LABEL_HISTORY_SERVER
      "heap" ($spec.memory | default $t.historyHeap)
      "ui" ($spec.sparkUIOptions | default dict)
      "cleans" (and (hasKey $spec "cleaner") (dig "cleaner" "enabled" true $spec)) -}}
  {{- if hasKey $log "claim" -}}{{- $_ := set $app "claim" $log.claim -}}{{- end -}}
  {{- template "sparkgen.server" (set . "app" $app) -}}
  {{- template "sparkgen.historyFiles" $app -}}
  {{- template "sparkgen.historyValues" . -}}
  {{- template "sparkgen.made" (set . "layer" "historyServer") -}}
{{- end -}}

{{- /* What the server's configuration directory holds. In: app. Out: app.conf. */ -}}
{{- define "sparkgen.historyFiles" -}}
  {{- $redirect := dict "ui" .ui "t" .t -}}
  {{- template "sparkgen.redirectProperties" $redirect -}}
  {{- $own := dict -}}
  {{- range $name, $text := .spec.hadoopConf -}}{{- $_ := set $own (printf "spark.hadoop.%s" $name) $text -}}{{- end -}}
  {{- range $field, $name := .t.cleanerProperties -}}
    {{- if hasKey ($.spec.cleaner | default dict) $field -}}
      {{- $_ := set $own $name (include "sparkgen.propertyText" (get $.spec.cleaner $field)) -}}
    {{- end -}}
  {{- end -}}
  {{- if hasKey .spec "cleaner" -}}
    {{- $_ := set $own "spark.history.fs.cleaner.enabled" (ternary "true" "false" .cleans) -}}
  {{- end -}}
  {{- $_ := set $own "spark.history.fs.logDirectory" .spec.eventLog.dir -}}
  {{- $_ := set $own "spark.history.ui.port" (toRawJson .c.HISTORY_PORT) -}}
  {{- $all := dict "maps" (list $redirect.properties .spec.sparkConf $own) -}}
  {{- template "sparkgen.laid" $all -}}
  {{- $_ := set . "properties" $all.laid -}}
  {{- $_ := set . "conf" (dict
      .c.LOG4J2_FILE (include "sparkgen.log4j2" .)
      .c.SPARK_DEFAULTS_FILE (include "sparkgen.propertyLines" $all.laid)) -}}
{{- end -}}

{{- /* The values of its objects' layers. In: app. Out: values. */ -}}
{{- define "sparkgen.historyValues" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- template "sparkgen.serverValues" . -}}
  {{- $values := .values -}}
  {{- $pages := dict "section" "ui" "options" $app.ui "port" $c.HISTORY_PORT "values" $values "t" $t -}}
  {{- template "sparkgen.exposed" $pages -}}
  {{- $named := dict "policy" ($app.spec.networkPolicy | default dict) "field" "ingressFrom" -}}
  {{- template "sparkgen.peers" $named -}}
  {{- $_ := set $values "peers" $named.peers -}}
  {{- $security := omit $t.podSecurity -}}
  {{- with $app.claim -}}
    {{- $_ := set $security "fsGroupChangePolicy" "OnRootMismatch" -}}
    {{- $_ := set $values "claim" . -}}
  {{- end -}}
  {{- $merged := dict "base" $security "over" ($app.spec.podSecurityContext | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $merged -}}
  {{- $objects := dict "secrets" $app.spec.secrets "t" $t -}}
  {{- template "sparkgen.mountedObjects" $objects -}}
  {{- if not $app.cleans -}}{{- $_ := set $values "readOnlyLog" true -}}{{- end -}}
  {{- $resources := dict "memory" $app.memory "requests" $t.historyRequest "tables" $t -}}
  {{- template "sparkgen.daemonResources" (set $resources "over" ($app.spec.resources | default dict)) -}}
  {{- range $key, $value := dict
      "guarded" (hasKey $app.properties $t.historyFilters)
      "open" (not (hasKey $app.properties $t.historyFilters))
      "strategy" (ternary "Recreate" "RollingUpdate" (hasKey $app "claim"))
      "podSecurity" $merged.value
      "resources" $resources.value
      "secretEnv" $objects.mounted.env
      "secretVolumes" $objects.mounted.volumes
      "secretMounts" $objects.mounted.volumeMounts
      "ownEnv" ($app.spec.env | default list) -}}
    {{- $_ := set $values $key $value -}}
  {{- end -}}
{{- end -}}
