{{- /* The archive of logs (sparkgen/model/logarchive.py, resources/logarchive.py). */ -}}

{{- /* Where and how logs are archived: `app.archive`, where the document asks for it. In, out: app. */ -}}
{{- define "sparkgen.logArchive" -}}
  {{- $app := . -}}
  {{- range $given := pick (.spec.logging | default dict) "archive" -}}
    {{- $size := dict "text" ($given.maxSize | default $app.t.logArchive.maxSize) "tables" $app.t -}}
    {{- template "sparkgen.mib" $size -}}
    {{- if $size.error -}}{{- fail "logging.archive.maxSize is too large: write a smaller one" -}}{{- end -}}
    {{- $resources := dict "base" $app.t.logArchive.resources "over" ($given.resources | default dict) "tables" $app.t -}}
    {{- template "sparkgen.merge" $resources -}}
    {{- $archive := dict
        "root" (ternary $app.c.LOG_ARCHIVE_DIR (printf "%s:%s" $app.t.logArchive.store ($given.url | default "" | trimPrefix $app.t.logArchive.scheme | trimSuffix "/")) (hasKey $given "claim"))
        "image" $given.image
        "store" (not (hasKey $given "claim"))
        "provider" (ternary "Other" "AWS" (hasKey $given "endpoint"))
        "kib" (mul $size.value 1024 | toString)
        "resources" $resources.value -}}
    {{- range $field, $name := dict "claim" "claim" "endpoint" "endpoint" "region" "region" "secretName" "secret" -}}
      {{- with get $given $field -}}{{- $_ := set $archive $name . -}}{{- end -}}
    {{- end -}}
    {{- $times := dict "seconds" ($given.interval | default $app.t.logArchive.interval) -}}
    {{- with $given.maxAge -}}{{- $_ := set $times "maxAge" . -}}{{- end -}}
    {{- range $name, $text := $times -}}
      {{- $call := dict "text" $text "unit" "s" "tables" $app.t -}}
      {{- template "sparkgen.milliseconds" $call -}}
      {{- if $call.error -}}{{- fail "logging.archive has a time that is too long: write a shorter one" -}}{{- end -}}
      {{- if and (eq $name "maxAge") (lt $call.value 3600000) -}}
        {{- fail "logging.archive.maxAge is shorter than 1h, which would delete logs that nobody has read: write `maxAge: 30d`" -}}
      {{- end -}}
      {{- $_ := set $archive $name (div $call.value 1000 | toString) -}}
    {{- end -}}
    {{- $_ := set $app "archive" $archive -}}
  {{- end -}}
{{- end -}}

{{- /* The values for a role's pod. In: app, role. In, out: values. */ -}}
{{- define "sparkgen.logArchiveValues" -}}
  {{- $_ := set .values "logged" list -}}
  {{- if hasKey .app "archive" -}}
    {{- $archive := omit .app.archive "maxAge" -}}
    {{- if and (eq .role.name "driver") (hasKey .app.archive "maxAge") -}}
      {{- $_ := set $archive "maxAge" (printf "%ss" .app.archive.maxAge) -}}
    {{- end -}}
    {{- $_ := set (set .values "archive" $archive) "logged" .app.c.LOGGED_ARGUMENTS -}}
  {{- end -}}
{{- end -}}
