{{- /* Kinds that are applications with a program of their own (sparkgen/model/completion.py). */ -}}

{{- /* The spec of such a kind is completed to an application's. In, out: value. In: tables. */ -}}
{{- define "sparkgen.asApplication" -}}
  {{- with get .tables.completions .value.kind -}}
    {{- $given := $.value.spec -}}
    {{- $spec := merge (deepCopy .applicationFields) (omit $given "dynamicAllocation" "sparkConf") -}}
    {{- $own := $given.dynamicAllocation | default dict -}}
    {{- $_ := set $spec "dynamicAllocation" (mergeOverwrite (deepCopy $.tables.completedAllocation) (deepCopy $own)) -}}
    {{- $properties := mergeOverwrite (deepCopy .defaultProperties) ($given.sparkConf | default dict) -}}
    {{- $section := get $given .section | default dict -}}
    {{- range $field, $property := .sectionProperties -}}
      {{- with get $section $field -}}{{- $_ := set $properties $property . -}}{{- end -}}
    {{- end -}}
    {{- $_ := set $spec "sparkConf" $properties -}}
    {{- $_ := set $ "value" (mergeOverwrite (omit $.value "spec") (dict "spec" $spec)) -}}
  {{- end -}}
{{- end -}}

{{- /* JupyterLab in the driver's container (sparkgen/model/notebook.py). In: app. Out: notebook. */ -}}
{{- define "sparkgen.notebook" -}}
  {{- $given := .app.notebook -}}
  {{- $found := merge (dict "withoutClaim" (not (hasKey $given "claim"))) (pick $given "claim" "token") -}}
  {{- with $given.kernelIdleTimeout -}}
    {{- $call := dict "text" . "unit" "ms" "tables" $.app.t -}}
    {{- template "sparkgen.milliseconds" $call -}}
    {{- if $call.error -}}{{- fail (printf "the duration %s is too large for Spark: write a smaller one" .) -}}{{- end -}}
    {{- $_ := set $found "idleSeconds" (div $call.value 1000 | toString) -}}
  {{- end -}}
  {{- $_ := set . "notebook" $found -}}
{{- end -}}
