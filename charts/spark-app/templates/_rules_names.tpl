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
  {{- if and $made $existing -}}
    {{- template "sparkgen.renderedAccount" (dict "facts" . "name" $existing
        "path" (concat .root (list "driver" "serviceAccount"))) -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.serviceRule.SG196" -}}
  {{- $account := .spec.serviceAccount | default dict -}}
  {{- $made := ternary $account.create true (hasKey $account "create") -}}
  {{- template "sparkgen.sharedName" (dict "facts" . "account" $account "existing" "" "made" $made) -}}
{{- end -}}

{{- define "sparkgen.historyServerRule.SG196" -}}
  {{- template "sparkgen.serviceRule.SG196" . -}}
  {{- if eq "kubernetes" .value.metadata.name -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (list "metadata" "name")
        "message" (print "is the name of Kubernetes' own Service in the namespace `default`, and the server's Service would "
            "take it over")
        "next" "choose another name, such as `spark-history`") -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, account (the section), existing (the driver's own account), made (whether it is rendered). */ -}}
{{- define "sparkgen.sharedName" -}}
  {{- $name := .facts.value.metadata.name -}}
  {{- if and .account.name .made -}}
    {{- template "sparkgen.renderedAccount" (dict "facts" .facts "name" .account.name
        "path" (concat .facts.root (list "serviceAccount" "name"))) -}}
  {{- end -}}
  {{- if and (eq "default" $name) (not .account.name) (not .existing) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (list "metadata" "name")
        "message" "would give its rights to the account `default`, which every pod uses that names none"
        "next" "choose another name, or name an account in `serviceAccount.name`") -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, name (of an account that is rendered), path (where it stands). */ -}}
{{- define "sparkgen.renderedAccount" -}}
  {{- $whose := ternary "each namespace has already" "" (eq "default" .name) -}}
  {{- $suffix := first .facts.tables.reservedSuffixes -}}
  {{- if hasSuffix $suffix .name -}}
    {{- $of := trimSuffix $suffix .name | include "sparkgen.shortened" -}}
    {{- $whose = printf "sparkgen renders for an application `%s`" $of -}}
  {{- end -}}
  {{- if $whose -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" .path
        "message" (printf "is the account that %s, and rendering it would take it over" $whose)
        "next" "name another account, or add `create: false` to `serviceAccount`") -}}
  {{- end -}}
{{- end -}}
