{{- /* Texts: each takes its input as the dot and returns the text, nothing around it. */ -}}

{{- /* names.canonical_json: sorted keys, no HTML escapes, numbers as floats print. */ -}}
{{- define "sparkgen.canonical" -}}
  {{- toRawJson . -}}
{{- end -}}

{{- /* names.digest, of the length that runs have. */ -}}
{{- define "sparkgen.digest" -}}
  {{- include "sparkgen.canonical" . | sha256sum | trunc 8 -}}
{{- end -}}

{{- /*
resources.text.json_text. `toPrettyJson` escapes HTML; taking that back needs the pairs of backslashes out of
the way first, by a character that JSON never has as it is.
*/ -}}
{{- define "sparkgen.json" -}}
  {{- $text := toPrettyJson . | replace "\\\\" "\x01" -}}
  {{- $text = $text | replace "\\u003c" "<" | replace "\\u003e" ">" | replace "\\u0026" "&" -}}
  {{- $text | replace "\x01" "\\\\" | printf "%s\n" -}}
{{- end -}}

{{- /* What a key and a value of a properties file escape alike; the backslash first. */ -}}
{{- define "sparkgen.property.escaped" -}}
  {{- $text := . | replace "\\" "\\\\" | replace "\n" "\\n" | replace "\r" "\\r" -}}
  {{- $text | replace "\t" "\\t" | replace "\f" "\\f" -}}
{{- end -}}

{{- /* resources.text.property_value. */ -}}
{{- define "sparkgen.propertyValue" -}}
  {{- if regexMatch "^[ =:]" . -}}\{{- end -}}
  {{- include "sparkgen.property.escaped" . -}}
{{- end -}}

{{- /* resources.text.property_key. */ -}}
{{- define "sparkgen.propertyKey" -}}
  {{- if regexMatch "^[#!]" . -}}\{{- end -}}
  {{- include "sparkgen.property.escaped" . | replace " " "\\ " | replace ":" "\\:" | replace "=" "\\=" -}}
{{- end -}}

{{- /* Jinja's `e`. Go's own `html` does the same, but for a NUL. */ -}}
{{- define "sparkgen.xml" -}}
  {{- . | replace "&" "&amp;" | replace "<" "&lt;" | replace ">" "&gt;" | replace "'" "&#39;" | replace "\"" "&#34;" | replace "\r" "&#13;" -}}
{{- end -}}

{{- /*
An object as YAML that every reader reads back unchanged. `toYaml` fails (and returns nothing) for the controls
of 0x7f to 0x9f and two noncharacters, and breaks a text that starts with a newline and a line separator: such
an object is printed as JSON, which is YAML too, with those characters escaped.
*/ -}}
{{- define "sparkgen.print" -}}
  {{- $json := toRawJson . -}}
  {{- if regexMatch "[\\x7f-\\x{9f}\\x{fffe}\\x{ffff}]|\\\\u202[89]" $json -}}
    {{- range $code := concat (untilStep 127 160 1) (list 65534 65535) -}}
      {{- $json = $json | replace (printf "%c" $code) (printf "\\u%04x" $code) -}}
    {{- end -}}
    {{- $json -}}
  {{- else -}}
    {{- toYaml . -}}
  {{- end -}}
{{- end -}}
