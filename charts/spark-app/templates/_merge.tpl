{{- /*
resources.merge.merge, over the same tables. In: base, over, tables. Out: value. Neither input is changed.

Items are compared by their canonical JSON: a number of the values file is a float, one of a template an
integer, and to `deepEqual` those two are never equal.
*/ -}}
{{- define "sparkgen.merge" -}}
  {{- $result := dict -}}
  {{- range $key, $value := .base -}}{{- $_ := set $result $key $value -}}{{- end -}}
  {{- range $key, $value := .over -}}
    {{- if hasKey $.base $key -}}
      {{- $call := dict "field" $key "base" (get $.base $key) "over" $value "tables" $.tables -}}
      {{- template "sparkgen.merged" $call -}}
      {{- $value = $call.value -}}
    {{- end -}}
    {{- $_ := set $result $key $value -}}
  {{- end -}}
  {{- $_ := set . "value" $result -}}
{{- end -}}

{{- /* One field. In: field, base, over, tables. Out: value. */ -}}
{{- define "sparkgen.merged" -}}
  {{- $_ := set . "value" .over -}}
  {{- if and (kindIs "map" .base) (kindIs "map" .over) -}}
    {{- template "sparkgen.merge" . -}}
  {{- else if and (kindIs "slice" .base) (kindIs "slice" .over) -}}
    {{- if has .field .tables.appended -}}
      {{- template "sparkgen.appended" . -}}
    {{- else if hasKey .tables.mergeKeys .field -}}
      {{- template "sparkgen.items" . -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Lists that add up. In: base, over. Out: value. */ -}}
{{- define "sparkgen.appended" -}}
  {{- $there := dict -}}
  {{- range $item := .base -}}{{- $_ := set $there (toRawJson $item) true -}}{{- end -}}
  {{- $value := .base -}}
  {{- range $item := .over -}}
    {{- if not (hasKey $there (toRawJson $item)) -}}{{- $value = append $value $item -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "value" $value -}}
{{- end -}}

{{- /* Lists whose items have a key. In: field, base, over, tables. Out: value. */ -}}
{{- define "sparkgen.items" -}}
  {{- $key := get .tables.mergeKeys .field -}}
  {{- $whole := has .field .tables.whole -}}
  {{- $places := dict -}}
  {{- $items := dict -}}
  {{- range $index, $item := .base -}}
    {{- $_ := set $places (toRawJson (index $item $key)) $index -}}
    {{- $_ := set $items (toString $index) $item -}}
  {{- end -}}
  {{- range $item := .over -}}
    {{- $name := toRawJson (index $item $key) -}}
    {{- if not (hasKey $places $name) -}}
      {{- $_ := set $places $name (len $items) -}}
      {{- $_ := set $items (toString (len $items)) $item -}}
    {{- else -}}
      {{- $place := get $places $name | toString -}}
      {{- if not $whole -}}
        {{- $call := dict "base" (get $items $place) "over" $item "tables" $.tables -}}
        {{- template "sparkgen.merge" $call -}}
        {{- $item = $call.value -}}
      {{- end -}}
      {{- $_ := set $items $place $item -}}
    {{- end -}}
  {{- end -}}
  {{- $value := list -}}
  {{- range $index := until (len $items) -}}{{- $value = append $value (get $items (toString $index)) -}}{{- end -}}
  {{- $_ := set . "value" $value -}}
{{- end -}}

{{- /* Texts by name, such as labels: of two with one name the later. In: maps. Out: laid. */ -}}
{{- define "sparkgen.laid" -}}
  {{- $laid := dict -}}
  {{- range $map := .maps -}}
    {{- range $key, $text := $map -}}{{- $_ := set $laid $key $text -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "laid" $laid -}}
{{- end -}}
