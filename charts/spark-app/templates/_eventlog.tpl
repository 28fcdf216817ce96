{{- /* Event logs (sparkgen/model/eventlog.py, semantics/rules_eventlog.py). */ -}}

{{- /* The claim of a section `eventLog`. In: section. Out: claim (name, path), where it asks for one. */ -}}
{{- define "sparkgen.logClaim" -}}
  {{- $section := .section | default dict -}}
  {{- if and (hasKey $section "claim") (not (and (hasKey $section "enabled") (not $section.enabled))) -}}
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

{{- define "sparkgen.step.event_log" -}}
  {{- $_ := set . "value" dict -}}
  {{- if hasKey .app "logClaim" -}}
    {{- $name := .app.c.EVENT_LOG_VOLUME -}}
    {{- template "sparkgen.main" (set . "fields" (dict
        "volumeMounts" (list (dict "name" $name "mountPath" .app.logClaim.path)))) -}}
    {{- $_ := set .value.spec "volumes" (list (dict
        "name" $name "persistentVolumeClaim" (dict "claimName" .app.logClaim.name))) -}}
    {{- $_ := set .value.spec "securityContext" (dict "fsGroupChangePolicy" "OnRootMismatch") -}}
  {{- end -}}
{{- end -}}
