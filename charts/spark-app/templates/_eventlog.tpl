{{- /* Event logs (sparkgen/model/eventlog.py, semantics/rules_eventlog.py). */ -}}

{{- /* The claim of a section `eventLog`. In: section. Out: claim (name, path), where it asks for one. */ -}}
{{- define "sparkgen.logClaim" -}}
  {{- $section := .section | default dict -}}
  {{- if and (hasKey $section "claim") (dig "enabled" true $section) -}}
    {{- $path := include "sparkgen.localPath" $section.dir -}}
    {{- if $path -}}{{- $_ := set . "claim" (dict "name" $section.claim "path" $path) -}}{{- end -}}
  {{- end -}}
{{- end -}}

{{- /* The path of a directory of the pod, without a slash at its end; "" for one that is elsewhere. Dot: the directory. */ -}}
{{- define "sparkgen.localPath" -}}
  {{- if regexMatch "^file:(?:///|/)[^/]" . -}}
    {{- regexReplaceAll "/+$" (regexReplaceAll "^file:/+" . "/") "" -}}
  {{- end -}}
{{- end -}}
