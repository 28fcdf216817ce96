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
    {{- template "sparkgen.historyPod" . -}}
    {{- $spec := set (omit $app.t.historyLimits) "template" .pod -}}
    {{- $job := dict "app" $app "name" (printf "%s-%s" $name (include "sparkgen.digest" $spec)) -}}
    {{- $all := dict "app" $app "name" $name -}}
    {{- range $call := list $job $all -}}
      {{- template "sparkgen.metadata" $call -}}
      {{- $_ := set $call.metadata.labels $c.LABEL_COMPONENT $c.HISTORY -}}
    {{- end -}}
    {{- $group := "rbac.authorization.k8s.io" -}}
    {{- $objects = list
        (dict "apiVersion" "v1" "kind" "ServiceAccount" "metadata" $all.metadata "automountServiceAccountToken" false)
        (dict "apiVersion" (printf "%s/v1" $group) "kind" "Role" "metadata" $all.metadata "rules" $rules)
        (dict "apiVersion" (printf "%s/v1" $group) "kind" "RoleBinding" "metadata" $all.metadata
          "roleRef" (dict "apiGroup" $group "kind" "Role" "name" $name)
          "subjects" (list (dict "kind" "ServiceAccount" "name" $name "namespace" $app.namespace)))
        (dict "apiVersion" "batch/v1" "kind" "Job" "metadata" $job.metadata "spec" $spec) -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}

{{- /* In: app, run, workload. Out: pod. */ -}}
{{- define "sparkgen.historyPod" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $env := list
      (dict "name" $c.ENV_CONTRACT "value" (toString $c.VERSION))
      (dict "name" $c.ENV_APPLICATION "value" $app.name)
      (dict "name" $c.ENV_RUN "value" .run)
      (dict "name" $c.ENV_WORKLOAD "value" .workload) -}}
  {{- range $pair := list (list $c.ENV_KEEP_SUCCEEDED "succeeded") (list $c.ENV_KEEP_FAILED "failed") -}}
    {{- if hasKey $app.history (index $pair 1) -}}
      {{- $number := get $app.history (index $pair 1) | toRawJson -}}
      {{- $env = append $env (dict "name" (index $pair 0) "value" $number) -}}
    {{- end -}}
  {{- end -}}
  {{- range $pair := list
      (list $c.ENV_POD_NAMESPACE "metadata.namespace")
      (list $c.ENV_JOB_NAME "metadata.labels['batch.kubernetes.io/job-name']") -}}
    {{- $source := dict "fieldRef" (dict "fieldPath" (index $pair 1)) -}}
    {{- $env = append $env (dict "name" (index $pair 0) "valueFrom" $source) -}}
  {{- end -}}
  {{- $container := dict
      "name" $c.HISTORY
      "image" $app.runtimeImage
      "args" (list $c.HISTORY)
      "env" $env
      "resources" $app.t.runtimeResources
      "securityContext" (set (omit $app.t.restricted) "readOnlyRootFilesystem" true) -}}
  {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $container "imagePullPolicy" . -}}{{- end -}}
  {{- $picked := dict "source" $app.driver.spec "names" (list "nodeSelector" "tolerations") -}}
  {{- template "sparkgen.picked" $picked -}}
  {{- $spec := $picked.picked -}}
  {{- range $key, $value := dict
      "serviceAccountName" (printf "%s-%s" $app.name $c.HISTORY)
      "automountServiceAccountToken" true
      "restartPolicy" "Never"
      "enableServiceLinks" false
      "securityContext" $app.t.podSecurity
      "containers" (list $container) -}}
    {{- $_ := set $spec $key $value -}}
  {{- end -}}
  {{- $secrets := list -}}
  {{- range $name := $app.spec.imagePullSecrets -}}{{- $secrets = append $secrets (dict "name" $name) -}}{{- end -}}
  {{- if $secrets -}}{{- $_ := set $spec "imagePullSecrets" $secrets -}}{{- end -}}
  {{- $labels := dict
      $c.LABEL_NAME $app.name
      $c.LABEL_COMPONENT $c.HISTORY
      $c.LABEL_MANAGED_BY "sparkgen"
      "sidecar.istio.io/inject" "false" -}}
  {{- $_ := set . "pod" (dict
      "metadata" (dict "labels" $labels "annotations" (dict "linkerd.io/inject" "disabled")) "spec" $spec) -}}
{{- end -}}
