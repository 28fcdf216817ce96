{{- /* Connect servers (sparkgen/model/connect.py). */ -}}

{{- /* A Connect server's spec is completed to an application's. In, out: value. In: tables. */ -}}
{{- define "sparkgen.asApplication" -}}
  {{- $connect := .tables.connect -}}
  {{- if eq .value.kind $connect.kind -}}
    {{- $spec := merge (deepCopy $connect.applicationFields) (omit .value.spec "dynamicAllocation" "sparkConf") -}}
    {{- $own := .value.spec.dynamicAllocation | default dict -}}
    {{- $_ := set $spec "dynamicAllocation" (mergeOverwrite (deepCopy $connect.dynamicAllocation) (deepCopy $own)) -}}
    {{- $properties := mergeOverwrite (deepCopy $connect.defaultProperties) (.value.spec.sparkConf | default dict) -}}
    {{- with dig "connect" "idleTimeout" "" .value.spec -}}{{- $_ := set $properties $connect.idleProperty . -}}{{- end -}}
    {{- $_ := set $spec "sparkConf" $properties -}}
    {{- $_ := set . "value" (mergeOverwrite (omit .value "spec") (dict "spec" $spec)) -}}
  {{- end -}}
{{- end -}}
