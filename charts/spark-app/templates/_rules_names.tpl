{{- /* Names with which two owners would share one object (sparkgen/semantics/rules_names.py). */ -}}

{{- define "sparkgen.rule.SG196" -}}
  {{- $facts := . -}}
  {{- $name := .value.metadata.name -}}
  {{- range $suffix := .tables.reservedSuffixes -}}
    {{- if hasSuffix $suffix $name -}}
      {{- $of := trimSuffix $suffix $name | include "sparkgen.shortened" -}}
      {{- $like := printf "ends with `%s`, like the Role that sparkgen renders for an application `%s`" $suffix $of -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (list "metadata" "name")
          "message" (print $like ": one would replace the other")
          "next" (printf "choose a name that does not end with `%s`" $suffix)) -}}
    {{- end -}}
  {{- end -}}
  {{- $account := .spec.serviceAccount | default dict -}}
  {{- $existing := dig "driver" "serviceAccount" "" .spec -}}
  {{- $made := ternary $account.create (not $existing) (hasKey $account "create") -}}
  {{- template "sparkgen.sharedName" (dict "facts" . "account" $account "existing" $existing "made" $made) -}}
{{- end -}}

{{- define "sparkgen.serviceRule.SG196" -}}
  {{- $account := .spec.serviceAccount | default dict -}}
  {{- $made := ternary $account.create true (hasKey $account "create") -}}
  {{- template "sparkgen.sharedName" (dict "facts" . "account" $account "existing" "" "made" $made) -}}
{{- end -}}

{{- define "sparkgen.historyServerRule.SG196" -}}
  {{- template "sparkgen.serviceRule.SG196" . -}}
{{- end -}}

{{- /* In: facts, account (the section), existing (the driver's own account), made (whether it is rendered). */ -}}
{{- define "sparkgen.sharedName" -}}
  {{- $name := .facts.value.metadata.name -}}
  {{- if and (eq "default" (.account.name | default "")) .made -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (concat .facts.root (list "serviceAccount" "name"))
        "message" "is the account that each namespace has already, and rendering it would take it over"
        "next" "name another account, or add `create: false`") -}}
  {{- else if and (eq "default" $name) (not .account.name) (not .existing) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (list "metadata" "name")
        "message" "would give its rights to the account `default`, which every pod uses that names none"
        "next" "choose another name, or name an account in `serviceAccount.name`") -}}
  {{- end -}}
{{- end -}}
