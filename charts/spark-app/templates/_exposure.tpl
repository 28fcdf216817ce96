{{- /* What leads to Spark's pages (sparkgen/resources/exposure.py, semantics/rules_exposure.py). */ -}}

{{- /* "true" where the driver has Spark's pages. Dot: properties. */ -}}
{{- define "sparkgen.showsPages" -}}
  {{- include "sparkgen.isTrue" (list . "spark.ui.enabled" true) -}}
{{- end -}}

{{- /* The properties that a path brings. In: ui, t. Out: properties. */ -}}
{{- define "sparkgen.redirectProperties" -}}
  {{- $path := dig "route" "path" "/" .ui -}}
  {{- $_ := set . "properties" (ternary dict .t.redirectProperties (eq $path "/")) -}}
{{- end -}}

{{- /*
In: section (its name), options (what it says), port (the Service's default), values (with labels and annotations), t.
Out: values, with the section.
*/ -}}
{{- define "sparkgen.exposed" -}}
  {{- $annotations := .values.annotations -}}
  {{- $found := dict "type" (.options.serviceType | default "ClusterIP") "port" (.options.servicePort | default .port) -}}
  {{- with .options.nodePort -}}{{- $_ := set $found "nodePort" . -}}{{- end -}}
  {{- template "sparkgen.laid" (set $found "maps" (list .options.serviceLabels .values.labels)) -}}
  {{- $_ := set $found "labels" $found.laid -}}
  {{- template "sparkgen.laid" (set $found "maps" (list $annotations .options.serviceAnnotations)) -}}
  {{- $_ := set $found "annotations" $found.laid -}}
  {{- range $field, $given := pick .options "ingress" "route" -}}
    {{- $noted := dict "maps" (list $annotations $given.annotations) -}}
    {{- template "sparkgen.laid" $noted -}}
    {{- $_ := set $found $field (set (omit $given) "annotations" $noted.laid) -}}
  {{- end -}}
  {{- with $found.route -}}
    {{- $parents := list -}}
    {{- range $parent := .parentRefs -}}
      {{- $call := dict "maps" (list (dict "group" $.t.gatewayApi "kind" "Gateway") $parent) -}}
      {{- template "sparkgen.laid" $call -}}
      {{- $parents = append $parents $call.laid -}}
    {{- end -}}
    {{- $path := .path | default "/" -}}
    {{- $_ := set (set (set . "parentRefs" $parents) "path" $path) "below" (ne $path "/") -}}
  {{- end -}}
  {{- $_ := set .values .section $found -}}
{{- end -}}
