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
  {{- template "sparkgen.historyValues" . -}}
  {{- template "sparkgen.made" (set . "layer" "historyServer") -}}
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

{{- /* The values of its objects' layers. In: app. Out: values. */ -}}
{{- define "sparkgen.historyValues" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- template "sparkgen.serverValues" . -}}
  {{- $values := .values -}}
  {{- $pages := dict "section" "ui" "options" $app.ui "port" $c.HISTORY_PORT "values" $values "t" $t -}}
  {{- template "sparkgen.exposed" $pages -}}
  {{- $_ := set $values "peers" ($values.peers | default (list (dict "podSelector" dict))) -}}
  {{- $security := omit $t.podSecurity -}}
  {{- with $app.claim -}}
    {{- $_ := set $security "fsGroupChangePolicy" "OnRootMismatch" -}}
    {{- $_ := set $values "claim" . -}}
  {{- end -}}
  {{- $merged := dict "base" $security "over" ($app.spec.podSecurityContext | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $merged -}}
  {{- $objects := dict "secrets" $app.spec.secrets "t" $t -}}
  {{- template "sparkgen.mountedObjects" $objects -}}
  {{- if hasKey $app.properties $t.historyFilters -}}{{- $_ := set $values "socket" (dict "port" $c.HISTORY_PORT) -}}
  {{- else -}}{{- $_ := set $values "pages" (dict "path" "/" "port" $c.HISTORY_PORT) -}}
  {{- end -}}
  {{- if not $app.cleans -}}{{- $_ := set $values "readOnlyLog" true -}}{{- end -}}
  {{- $resources := dict "memory" $app.memory "requests" $t.historyRequest "tables" $t -}}
  {{- template "sparkgen.daemonResources" (set $resources "over" ($app.spec.resources | default dict)) -}}
  {{- range $key, $value := dict
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
