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

{{- /* Where a directory, its claim and the pod do not fit. In: facts, section, path (of the section). */ -}}
{{- define "sparkgen.logPlace" -}}
  {{- $path := include "sparkgen.localPath" .section.dir -}}
  {{- if and (hasPrefix "file:" .section.dir) (not $path) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (append .path "dir")
        "message" "is no absolute path, which a directory of the pod is named by"
        "next" "write it as in `dir: file:///mnt/event-logs`") -}}
  {{- else if not (hasKey .section "claim") -}}
  {{- else if not $path -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (append .path "claim")
        "message" "nothing is written to it: `dir` is no directory of the pod"
        "next" "write `dir: file:///mnt/event-logs`, where it is mounted then, or delete `claim`") -}}
  {{- else if or (not (regexMatch "^(/[A-Za-z0-9._-]+)+$" $path)) (has "." (splitList "/" $path)) (has ".." (splitList "/" $path)) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (append .path "dir")
        "message" "is no place to mount a claim at" "next" "write it as in `dir: file:///mnt/event-logs`") -}}
  {{- else -}}
    {{- $hides := hasPrefix (print .facts.tables.contract.ROOT "/") $path -}}
    {{- range $own := .facts.tables.neededDirectories -}}
      {{- if hasPrefix (print $path "/") (print $own "/") -}}{{- $hides = true -}}{{- end -}}
    {{- end -}}
    {{- if $hides -}}
      {{- template "sparkgen.problem" (dict "facts" .facts "path" (append .path "dir")
          "message" "the claim would hide files of Spark, of sparkgen or of the JVM"
          "next" "choose a place of its own, as in `dir: file:///mnt/event-logs`") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG174" -}}
  {{- $facts := . -}}
  {{- if hasKey .spec "eventLog" -}}
    {{- template "sparkgen.logPlace" (dict "facts" . "section" .spec.eventLog "path" (append .root "eventLog")) -}}
    {{- $call := dict "section" .spec.eventLog -}}
    {{- template "sparkgen.logClaim" $call -}}
    {{- range $container := ternary .containers list (hasKey $call "claim") -}}
      {{- if and (eq $container.role "driver") (eq $container.kind "spark") -}}
        {{- $found := dict "container" $container -}}
        {{- template "sparkgen.places" $found -}}
        {{- range $item := $found.places -}}
          {{- if eq $call.claim.path (clean (print "/" $item.place)) -}}
            {{- template "sparkgen.problem" (dict "facts" $facts "path" $item.path
                "message" "the claim of `eventLog` is mounted at the same place"
                "next" (printf "mount %s somewhere else, or delete `eventLog.claim`" $item.what)) -}}
          {{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
