{{- /* Spark properties and texts, as sparkgen/model/properties.py reads them. */ -}}

{{- /* What Python takes for blanks, as a class of a regular expression: Go's `\s` has fewer. */ -}}
{{- define "sparkgen.blanks" -}}
  [\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]+
{{- end -}}

{{- /* A text without the blanks that Python's str.strip takes. */ -}}
{{- define "sparkgen.stripped" -}}
  {{- $blanks := include "sparkgen.blanks" . -}}
  {{- regexReplaceAll (printf "^%s|%s$" $blanks $blanks) . "" -}}
{{- end -}}

{{- /* A typed value as Spark writes it. */ -}}
{{- define "sparkgen.propertyText" -}}
  {{- if kindIs "string" . -}}{{ . }}{{- else if kindIs "slice" . -}}{{ join "," . }}{{- else -}}{{ toRawJson . }}{{- end -}}
{{- end -}}

{{- /* The value at a path of keys. In: from, path. Out: value, found. */ -}}
{{- define "sparkgen.lookup" -}}
  {{- $value := .from -}}
  {{- $found := true -}}
  {{- range $key := .path -}}
    {{- if and $found (kindIs "map" $value) (hasKey (kindIs "map" $value | ternary $value dict) $key) -}}
      {{- $value = index $value $key -}}
    {{- else -}}
      {{- $found = false -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "found" $found -}}
  {{- $_ := set . "value" (ternary $value "" $found) -}}
{{- end -}}

{{- /*
Older names in `sparkConf` are put under the new ones (sparkgen/properties/older.py): the new name wins, then Spark's
order decides. In, out: value. In: tables. Out: written, new name -> the one in the document.
*/ -}}
{{- define "sparkgen.newNames" -}}
  {{- $written := dict -}}
  {{- $spec := .value.spec | default dict -}}
  {{- $conf := ternary ($spec.template | default dict) $spec (eq .value.kind "ScheduledSparkApplication") | dig "sparkConf" dict -}}
  {{- range $name, $older := .tables.olderNames -}}
    {{- range $one := $older -}}
      {{- if hasKey $conf $one -}}
        {{- if not (hasKey $conf $name) -}}
          {{- $_ := set $conf $name (get $conf $one) -}}
          {{- $_ := set $written $name $one -}}
        {{- end -}}
        {{- $_ := unset $conf $one -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "written" $written -}}
{{- end -}}

{{- /* All properties that a spec asks for, whichever way it says them. In: spec, tables. Out: properties. */ -}}
{{- define "sparkgen.properties" -}}
  {{- $properties := dict -}}
  {{- range $name, $text := .spec.sparkConf -}}{{- $_ := set $properties $name $text -}}{{- end -}}
  {{- range $name, $text := .spec.hadoopConf -}}
    {{- $_ := set $properties (printf "spark.hadoop.%s" $name) $text -}}
  {{- end -}}
  {{- range $name, $path := .tables.typedProperties -}}
    {{- $call := dict "from" $.spec "path" $path -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- if and $call.found (not (and (kindIs "slice" $call.value) (empty $call.value))) -}}
      {{- $_ := set $properties $name (include "sparkgen.propertyText" $call.value) -}}
    {{- end -}}
  {{- end -}}
  {{- $login := dict "spec" .spec "tables" .tables -}}
  {{- template "sparkgen.loginProperties" $login -}}
  {{- $call := dict "maps" (list $login.defaults $properties $login.properties) -}}
  {{- template "sparkgen.laid" $call -}}
  {{- $properties = $call.laid -}}
  {{- if hasKey .spec "eventLog" -}}
    {{- range $name, $text := .tables.eventLogDefaults -}}
      {{- if not (hasKey $properties $name) -}}{{- $_ := set $properties $name $text -}}{{- end -}}
    {{- end -}}
    {{- if not (hasKey .spec.eventLog "enabled") -}}{{- $_ := set $properties "spark.eventLog.enabled" "true" -}}{{- end -}}
  {{- end -}}
  {{- $timeout := dict "from" .spec "path" (list "dynamicAllocation" "shuffleTrackingTimeout") -}}
  {{- template "sparkgen.lookup" $timeout -}}
  {{- if and $timeout.found (not (kindIs "string" $timeout.value)) -}}
    {{- $text := printf "%sms" (toRawJson $timeout.value) -}}
    {{- $_ := set $properties "spark.dynamicAllocation.shuffleTracking.timeout" $text -}}
  {{- end -}}
  {{- $_ := set . "properties" $properties -}}
{{- end -}}

{{- /* The application's name in Spark as the value of its label. Dot: app. */ -}}
{{- define "sparkgen.appNameLabel" -}}
  {{- /* Java and Python lower U+0130 to two characters, of which the first is an "i"; Go to an "i" alone. */ -}}
  {{- $name := dig "spark.app.name" .name .properties | replace "\u0130" "i?" | include "sparkgen.trimmed" | lower -}}
  {{- regexReplaceAll "[^a-z0-9]+" $name "-" | trunc 63 | trimPrefix "-" | trimSuffix "-" -}}
{{- end -}}

{{- /* "true" for a boolean property that is on, as Spark reads it. Dot: (list properties name default). */ -}}
{{- define "sparkgen.isTrue" -}}
  {{- $properties := index . 0 -}}
  {{- if hasKey $properties (index . 1) -}}
    {{- if eq "true" (get $properties (index . 1) | include "sparkgen.trimmed" | lower) -}}true{{- end -}}
  {{- else if eq true (index . 2) -}}true
  {{- end -}}
{{- end -}}
