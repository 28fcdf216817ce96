{{- /*
A layer of tables.json with its values (sparkgen/resources/fill.py says what the places mean, and tools/chart/tables.py
how they are marked here). In: layer, values. Out: value, unless it is left out.
*/ -}}
{{- define "sparkgen.fill" -}}
  {{- $values := .values -}}
  {{- if kindIs "slice" .layer -}}
    {{- $filled := list -}}
    {{- range $member := .layer -}}
      {{- $call := dict "layer" $member "values" $values -}}
      {{- template "sparkgen.fill" $call -}}
      {{- if hasKey $call "items" -}}{{- $filled = concat $filled $call.items -}}
      {{- else if hasKey $call "value" -}}{{- $filled = append $filled $call.value -}}
      {{- end -}}
    {{- end -}}
    {{- if $filled -}}{{- $_ := set . "value" $filled -}}{{- end -}}
  {{- else if kindIs "string" .layer -}}
    {{- $text := .layer -}}
    {{- range $place := regexFindAll "@\\{[A-Za-z.]+\\}" .layer -1 -}}
      {{- $call := dict "from" $values "path" (trimAll "@{}" $place | splitList ".") -}}
      {{- template "sparkgen.lookup" $call -}}
      {{- $text = replace $place (toString $call.value) $text -}}
    {{- end -}}
    {{- $_ := set . "value" $text -}}
  {{- else if hasKey .layer "@value" -}}
    {{- $call := dict "from" $values "path" (get .layer "@value") -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- $nothing := and (has (kindOf $call.value) (list "map" "slice" "invalid")) (empty $call.value) -}}
    {{- if and $call.found (not $nothing) -}}{{- $_ := set . "value" $call.value -}}{{- end -}}
  {{- else if hasKey .layer "@items" -}}
    {{- $call := dict "from" $values "path" (get .layer "@items") -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- $_ := set . "items" $call.value -}}
  {{- else if not (hasKey .layer "@places") -}}
    {{- $_ := set . "value" (get .layer "@fixed") -}}
  {{- else -}}
    {{- $condition := dict "value" true -}}
    {{- with get .layer "@if" -}}
      {{- template "sparkgen.lookup" (set (set $condition "from" $values) "path" .) -}}
    {{- end -}}
    {{- if $condition.value -}}
      {{- $filled := omit (get .layer "@fixed") -}}
      {{- range $key, $member := get .layer "@places" -}}
        {{- $call := dict "layer" $member "values" $values -}}
        {{- template "sparkgen.fill" $call -}}
        {{- if hasKey $call "value" -}}{{- $_ := set $filled $key $call.value -}}{{- end -}}
      {{- end -}}
      {{- $_ := set . "value" $filled -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
