{{- /* Texts that cannot arrive where they go (sparkgen/semantics/rules_texts.py). */ -}}

{{- define "sparkgen.rule.SG197" -}}
  {{- $facts := . -}}
  {{- template "sparkgen.nulsAnywhere" . -}}
  {{- $wrong := "[\\x01-\\x08\\x0b\\x0c\\x0e-\\x1f\\x{fffe}\\x{ffff}]" -}}
  {{- $message := "has a character that XML does not allow, so nobody could read the file" -}}
  {{- range $name, $text := .spec.hadoopConf -}}
    {{- $path := append $facts.root "hadoopConf" -}}
    {{- if regexMatch $wrong $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path "message" (print "a key of it " $message) "next" "delete it") -}}
    {{- end -}}
    {{- if regexMatch $wrong $text -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path $name) "message" $message "next" "delete it") -}}
    {{- end -}}
  {{- end -}}
  {{- range $name, $text := .spec.sparkConfFiles -}}
    {{- if and (hasSuffix ".xml" $name) (kindIs "string" $text) -}}
      {{- if regexMatch $wrong $text -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "sparkConfFiles" $name))
            "message" $message "next" "delete it") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.serviceRule.SG197" -}}
  {{- template "sparkgen.nulsAnywhere" . -}}
{{- end -}}

{{- define "sparkgen.historyServerRule.SG197" -}}
  {{- template "sparkgen.nulsAnywhere" . -}}
{{- end -}}

{{- /* The document is walked only where there is a NUL, or the text of its escape. In, out: facts. */ -}}
{{- define "sparkgen.nulsAnywhere" -}}
  {{- if contains "\\u0000" (toRawJson .value) -}}
    {{- template "sparkgen.nuls" (dict "facts" . "from" .value "path" list) -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, from, path. Out: facts.problems. */ -}}
{{- define "sparkgen.nuls" -}}
  {{- $call := . -}}
  {{- $message := "has the character NUL, where arguments, variables and paths of Linux end" -}}
  {{- if kindIs "string" .from -}}
    {{- if contains "\x00" .from -}}
      {{- template "sparkgen.problem" (dict "facts" .facts "path" .path "message" $message "next" "delete it") -}}
    {{- end -}}
  {{- else if kindIs "map" .from -}}
    {{- range $key, $value := .from -}}
      {{- if contains "\x00" $key -}}
        {{- template "sparkgen.problem" (dict "facts" $call.facts "path" $call.path
            "message" (print "a key of it " $message) "next" "delete it") -}}
      {{- end -}}
      {{- template "sparkgen.nuls" (dict "facts" $call.facts "from" $value "path" (append $call.path $key)) -}}
    {{- end -}}
  {{- else if kindIs "slice" .from -}}
    {{- range $index, $value := .from -}}
      {{- template "sparkgen.nuls" (dict "facts" $call.facts "from" $value "path" (append $call.path $index)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
