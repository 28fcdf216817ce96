{{- /* The Job that removes ended runs, with an account and rights of its own (sparkgen/resources/history.py). */ -}}

{{- /* In: app, run, workload (the kind of the driver's object). Out: objects. */ -}}
{{- define "sparkgen.history" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $objects := list -}}
  {{- if hasKey $app "history" -}}
    {{- $name := printf "%s-%s" $app.name $c.HISTORY -}}
    {{- $rules := $app.t.historyRules -}}
    {{- if eq $app.target "argocd" -}}{{- $rules = append $rules $app.t.markRule -}}{{- end -}}
    {{- $pod := dict "values" (set (omit $app.pods.driver.values) "run" .run) -}}
    {{- range $key, $value := dict
        "runtimeImage" $app.runtimeImage "runtimeResources" $app.t.runtimeResources "workload" .workload -}}
      {{- $_ := set $pod.values $key $value -}}
    {{- end -}}
    {{- range $key := list "succeeded" "failed" -}}
      {{- if hasKey $app.history $key -}}{{- $_ := set $pod.values $key (get $app.history $key | toRawJson) -}}{{- end -}}
    {{- end -}}
    {{- $filled := dict "layer" $app.t.layers.history_job "values" $pod.values -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- $spec := $filled.value -}}
    {{- $job := dict "app" $app "name" (printf "%s-%s" $name (include "sparkgen.digest" $spec)) -}}
    {{- $all := dict "app" $app "name" $name -}}
    {{- range $call := list $job $all -}}
      {{- template "sparkgen.metadata" $call -}}
      {{- $_ := set $call.metadata.labels $c.LABEL_COMPONENT $c.HISTORY -}}
    {{- end -}}
    {{- range $key, $value := dict "rules" $rules "account" $name "namespace" $app.namespace -}}
      {{- $_ := set $all $key $value -}}
    {{- end -}}
    {{- template "sparkgen.granted" $all -}}
    {{- $account := dict "layer" $app.t.layers.service_account "values" $all -}}
    {{- template "sparkgen.fill" $account -}}
    {{- $objects = append (prepend $all.granted $account.value)
        (dict "apiVersion" "batch/v1" "kind" "Job" "metadata" $job.metadata "spec" $spec) -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}
