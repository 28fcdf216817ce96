{{- /*
A layer of tables.json with its values (sparkgen/resources/fill.py says what the places mean). In: layer, values. Out:
value, unless it is left out.
*/ -}}
{{- define "sparkgen.fill" -}}
  {{- $values := .values -}}
  {{- if kindIs "string" .layer -}}
    {{- template "sparkgen.fillText" . -}}
  {{- else if kindIs "map" .layer -}}
    {{- if or (not (hasKey .layer "@if")) (get $values (get .layer "@if" | toString)) -}}
      {{- $filled := dict -}}
      {{- range $key, $member := omit .layer "@if" -}}
        {{- $call := dict "layer" $member "values" $values -}}
        {{- if contains "@" (toRawJson $member) -}}{{- template "sparkgen.fill" $call -}}
        {{- else -}}{{- $_ := set $call "value" $member -}}
        {{- end -}}
        {{- if hasKey $call "value" -}}{{- $_ := set $filled $key $call.value -}}{{- end -}}
      {{- end -}}
      {{- $_ := set . "value" $filled -}}
    {{- end -}}
  {{- else -}}
    {{- $filled := list -}}
    {{- range $member := .layer -}}
      {{- if not (contains "@" (toRawJson $member)) -}}{{- $filled = append $filled $member -}}
      {{- else if hasPrefix "@{*" (toString $member) -}}
        {{- $filled = concat $filled (get $values (trimPrefix "@{*" $member | trimSuffix "}")) -}}
      {{- else -}}
        {{- $call := dict "layer" $member "values" $values -}}
        {{- template "sparkgen.fill" $call -}}
        {{- if hasKey $call "value" -}}{{- $filled = append $filled $call.value -}}{{- end -}}
      {{- end -}}
    {{- end -}}
    {{- $_ := set . "value" $filled -}}
  {{- end -}}
{{- end -}}

{{- /* A text with places. In: layer, values. Out: value, unless there is none. */ -}}
{{- define "sparkgen.fillText" -}}
  {{- if and (hasPrefix "@{" .layer) (hasSuffix "}" .layer) -}}
    {{- $call := dict "from" .values "path" (trimAll "@{}" .layer | splitList ".") -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- $nothing := and (or (kindIs "map" $call.value) (kindIs "slice" $call.value)) (empty $call.value) -}}
    {{- if and $call.found (not $nothing) -}}{{- $_ := set . "value" $call.value -}}{{- end -}}
  {{- else -}}
    {{- $text := .layer -}}
    {{- range $place := regexFindAll "@\\{[A-Za-z]+\\}" .layer -1 -}}
      {{- $text = replace $place (get $.values (trimAll "@{}" $place) | toString) $text -}}
    {{- end -}}
    {{- $_ := set . "value" $text -}}
  {{- end -}}
{{- end -}}
