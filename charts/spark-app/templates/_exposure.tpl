{{- /* What leads to Spark's pages (sparkgen/resources/exposure.py, semantics/rules_exposure.py). */ -}}

{{- /* The properties that a path brings. In: ui, t. Out: properties. */ -}}
{{- define "sparkgen.redirectProperties" -}}
  {{- $path := dig "route" "path" "/" .ui -}}
  {{- $_ := set . "properties" (ternary dict .t.redirectProperties (eq $path "/")) -}}
{{- end -}}

{{- /* In: ui (the section), values (with labels and annotations), port (the Service's default), t. Out: values.ui. */ -}}
{{- define "sparkgen.pages" -}}
  {{- $annotations := .values.annotations -}}
  {{- $ui := dict "type" (.ui.serviceType | default "ClusterIP") "port" (.ui.servicePort | default .port) -}}
  {{- template "sparkgen.laid" (set $ui "maps" (list .ui.serviceLabels .values.labels)) -}}
  {{- $_ := set $ui "labels" $ui.laid -}}
  {{- template "sparkgen.laid" (set $ui "maps" (list $annotations .ui.serviceAnnotations)) -}}
  {{- $_ := set $ui "annotations" $ui.laid -}}
  {{- range $field, $given := pick .ui "ingress" "route" -}}
    {{- $noted := dict "maps" (list $annotations $given.annotations) -}}
    {{- template "sparkgen.laid" $noted -}}
    {{- $_ := set $ui $field (set (omit $given) "annotations" $noted.laid) -}}
  {{- end -}}
  {{- with $ui.route -}}
    {{- $parents := list -}}
    {{- range $parent := .parentRefs -}}
      {{- $call := dict "maps" (list (dict "group" $.t.gatewayApi "kind" "Gateway") $parent) -}}
      {{- template "sparkgen.laid" $call -}}
      {{- $parents = append $parents $call.laid -}}
    {{- end -}}
    {{- $path := .path | default "/" -}}
    {{- $_ := set (set (set . "parentRefs" $parents) "path" $path) "below" (ne $path "/") -}}
  {{- end -}}
  {{- $_ := set .values "ui" $ui -}}
{{- end -}}
