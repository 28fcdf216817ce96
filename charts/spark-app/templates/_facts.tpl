{{- /* A document as the rules need it (sparkgen/semantics/facts.py), and the rules' turns of phrase. */ -}}

{{- /*
In: value, tables. Out: scheduled, root, outer, spec, conf, properties, containers, problems (empty).
`root` is the path of the application's spec.
*/ -}}
{{- define "sparkgen.facts" -}}
  {{- $scheduled := eq .value.kind "ScheduledSparkApplication" -}}
  {{- $spec := ternary .value.spec.template .value.spec $scheduled -}}
  {{- $call := dict "spec" $spec "tables" .tables -}}
  {{- template "sparkgen.properties" $call -}}
  {{- $_ := set . "scheduled" $scheduled -}}
  {{- $_ := set . "root" (ternary (list "spec" "template") (list "spec") $scheduled) -}}
  {{- $_ := set . "outer" .value.spec -}}
  {{- $_ := set . "spec" $spec -}}
  {{- $_ := set . "conf" ($spec.sparkConf | default dict) -}}
  {{- $_ := set . "properties" $call.properties -}}
  {{- $_ := set . "code" "" -}}
  {{- $_ := set . "problems" list -}}
  {{- template "sparkgen.containers" . -}}
{{- end -}}

{{- /*
All containers that the document describes, the fields of a role itself among them. In: facts. Out: containers,
each with role, kind (spark, init, sidecar), path, spec, typed and name.
*/ -}}
{{- define "sparkgen.containers" -}}
  {{- $facts := . -}}
  {{- $_ := set . "containers" list -}}
  {{- range $role := list "driver" "executor" -}}
    {{- with get $facts.spec $role -}}
      {{- $main := get $facts.tables.mainContainer $role -}}
      {{- $path := append $facts.root $role -}}
      {{- $inside := dig "template" "spec" dict . -}}
      {{- $within := concat $path (list "template" "spec") -}}
      {{- $named := false -}}
      {{- range $inside.containers -}}{{- if eq .name $main -}}{{- $named = true -}}{{- end -}}{{- end -}}
      {{- $_ := set $facts "containers" (append $facts.containers (dict
          "role" $role "kind" "spark" "path" $path "spec" . "typed" true "name" $main)) -}}
      {{- range $list := list
          (list "init" true .initContainers $path "initContainers")
          (list "sidecar" true .sidecars $path "sidecars")
          (list "init" false $inside.initContainers $within "initContainers")
          (list "sidecar" false $inside.containers $within "containers") -}}
        {{- $seen := false -}}
        {{- range $index, $spec := index $list 2 -}}
          {{- $kind := index $list 0 -}}
          {{- if and (eq (index $list 4) "containers") (not $seen) (or (eq $spec.name $main) (not $named)) -}}
            {{- $kind = "spark" -}}
            {{- $seen = true -}}
          {{- end -}}
          {{- $_ := set $facts "containers" (append $facts.containers (dict
              "role" $role "kind" $kind "typed" (index $list 1) "spec" $spec
              "path" (concat (index $list 3) (list (index $list 4) $index))
              "name" (ternary $main ($spec.name | default "") (eq $kind "spark")))) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Every rule that the chart has for the kind, in the order of their codes. In: server (its kind, or ""). In, out: facts. */ -}}
{{- define "sparkgen.rules" -}}
  {{- $facts := . -}}
  {{- $name := ternary (printf "%sRule" .server) "rule" (ne .server "") -}}
  {{- range $code := get .tables.rules .server -}}
    {{- include (printf "sparkgen.%s.%s" $name $code) (set $facts "code" $code) -}}
  {{- end -}}
{{- end -}}

{{- /* One finding more. In: facts, path (a list), message, next. Out: facts.problems. */ -}}
{{- define "sparkgen.problem" -}}
  {{- $_ := set .facts "problems" (append .facts.problems (dict
      "code" .facts.code
      "path" (include "sparkgen.pathText" .path)
      "message" (include "sparkgen.redacted" .message)
      "next" (.next | default "" | include "sparkgen.redacted"))) -}}
{{- end -}}

{{- /* A path as people write it. */ -}}
{{- define "sparkgen.pathText" -}}
  {{- range $index, $part := . -}}
    {{- if not (kindIs "string" $part) -}}[{{ $part }}]
    {{- else if regexMatch "^[\\p{L}\\p{N}_-]+$" $part -}}{{ if $index }}.{{ end }}{{ $part }}
    {{- else -}}["{{ $part }}"]
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* A text for a message, with three stars for every secret in it (sparkgen/semantics/secret.py). */ -}}
{{- define "sparkgen.redacted" -}}
  {{- $secrets := list
      "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b"
      "\\b(?:ghp|gho|ghs|github_pat|glpat|xox[abp])[_-][A-Za-z0-9_-]{16,}"
      "\\beyJ[A-Za-z0-9_-]{10,}\\.eyJ[A-Za-z0-9_-]{10,}"
      "-----BEGIN [A-Z ]*PRIVATE KEY-----"
      "://[^\\s/:@${]*:[^\\s/:@${]{3,}@"
      "jdbc:oracle:[a-z]+:[^\\s/:@${]+/[^\\s/:@${]{3,}@"
      "(?:password|passwd|pwd|secret|[?&](?:sig|token|access_token|api_?key))=[^${<\\s;&][^\\s;&]{2,}"
      "(?:Account|SharedAccess)Key=[A-Za-z0-9+/=]{16,}" -}}
  {{- regexReplaceAll (printf "(?i)%s" (join "|" $secrets)) . "***" -}}
{{- end -}}

{{- /* A text as found, cut to what fits in a message. */ -}}
{{- define "sparkgen.shortened" -}}
  {{- if regexMatch "(?s)^.{101}" . -}}{{ regexFind "(?s)^.{97}" . }}...{{- else -}}{{ . }}{{- end -}}
{{- end -}}
