{{- /* What leads to Spark's pages from outside (sparkgen/resources/exposure.py, semantics/rules_exposure.py). */ -}}

{{- /* The properties that a path brings. In: ui, t. Out: properties. */ -}}
{{- define "sparkgen.redirectProperties" -}}
  {{- $path := dig "route" "path" "/" .ui -}}
  {{- $_ := set . "properties" (ternary dict .t.redirectProperties (eq $path "/")) -}}
{{- end -}}

{{- /* In: ui, metadata (of one more object), service, t. Out: objects. */ -}}
{{- define "sparkgen.exposures" -}}
  {{- $objects := list -}}
  {{- range $field := list "ingress" "route" -}}
    {{- if hasKey $.ui $field -}}
      {{- $given := get $.ui $field -}}
      {{- $metadata := omit $.metadata -}}
      {{- if $given.annotations -}}
        {{- $annotations := omit ($metadata.annotations | default dict) -}}
        {{- range $key, $text := $given.annotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
        {{- $_ := set $metadata "annotations" $annotations -}}
      {{- end -}}
      {{- $call := dict "metadata" $metadata "given" $given "service" $.service "t" $.t -}}
      {{- include (printf "sparkgen.exposure.%s" $field) $call -}}
      {{- $objects = append $objects $call.object -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}

{{- define "sparkgen.exposure.ingress" -}}
  {{- $given := .given -}}
  {{- $port := first .service.spec.ports -}}
  {{- $backend := dict "service" (dict "name" .service.metadata.name "port" (dict "name" $port.name)) -}}
  {{- $path := dict "path" "/" "pathType" "Prefix" "backend" $backend -}}
  {{- $spec := dict "rules" (list (dict "host" $given.host "http" (dict "paths" (list $path)))) -}}
  {{- with $given.className -}}{{- $_ := set $spec "ingressClassName" . -}}{{- end -}}
  {{- with $given.tlsSecretName -}}
    {{- $_ := set $spec "tls" (list (dict "hosts" (list $given.host) "secretName" .)) -}}
  {{- end -}}
  {{- $_ := set . "object" (dict
      "apiVersion" "networking.k8s.io/v1" "kind" "Ingress" "metadata" .metadata "spec" $spec) -}}
{{- end -}}

{{- define "sparkgen.exposure.route" -}}
  {{- $given := .given -}}
  {{- $group := .t.gatewayApi -}}
  {{- $port := first .service.spec.ports -}}
  {{- $path := $given.path | default "/" -}}
  {{- $rule := dict
      "matches" (list (dict "path" (dict "type" "PathPrefix" "value" $path)))
      "backendRefs" (list (dict
        "group" "" "kind" "Service" "name" .service.metadata.name "port" $port.port "weight" 1)) -}}
  {{- if ne $path "/" -}}
    {{- $_ := set $rule "filters" (list
        (dict "type" "RequestHeaderModifier" "requestHeaderModifier" (dict
          "set" (list (dict "name" .t.prefixHeader "value" $path))))
        (dict "type" "URLRewrite" "urlRewrite" (dict
          "path" (dict "type" "ReplacePrefixMatch" "replacePrefixMatch" "/")))) -}}
  {{- end -}}
  {{- $parents := list -}}
  {{- range $parent := $given.parentRefs -}}
    {{- $parents = append $parents (merge (dict "group" $group "kind" "Gateway") $parent) -}}
  {{- end -}}
  {{- $spec := dict "parentRefs" $parents "rules" (list $rule) -}}
  {{- with $given.host -}}{{- $_ := set $spec "hostnames" (list .) -}}{{- end -}}
  {{- $_ := set . "object" (dict
      "apiVersion" (printf "%s/v1" $group) "kind" "HTTPRoute" "metadata" .metadata "spec" $spec) -}}
{{- end -}}
