{{- /*
What Helm needs and `sparkgen render` does not have: all of the difference between the two, in one place
(tests/chart/parity.py is the other side of it).
*/ -}}

{{- /*
The objects of one run stay when a later release does not have them any more: Helm would delete the Job of a driver
that runs. templates/uninstall.yaml removes them all in the end. Argo CD has its own annotation for this, and would take
Helm's for "never delete this". In, out: object. In: target.
*/ -}}
{{- define "sparkgen.released" -}}
  {{- $labels := .object.metadata.labels -}}
  {{- if and (ne .target "argocd") (hasKey $labels "sparkgen.dev/run") (has .object.kind (list "ConfigMap" "Job")) -}}
    {{- $annotations := omit (.object.metadata.annotations | default dict) -}}
    {{- $_ := set $annotations "helm.sh/resource-policy" "keep" -}}
    {{- $metadata := set (omit .object.metadata) "annotations" $annotations -}}
    {{- $_ := set . "object" (set (omit .object) "metadata" $metadata) -}}
  {{- end -}}
{{- end -}}
