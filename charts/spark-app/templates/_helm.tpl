{{- /*
What Helm adds to the objects that `sparkgen render` makes (tests/chart/parity.py is the other side of it).
Defaults are filled in in _application.tpl and _server.tpl.
*/ -}}

{{- /*
The objects of one run stay when a later release does not have them any more: Helm would delete the Job of a driver
that runs. templates/uninstall.yaml removes them all in the end. Argo CD has its own annotation for this, and would take
Helm's for "never delete this". In, out: object. In: target.
*/ -}}
{{- define "sparkgen.released" -}}
  {{- $labels := .object.metadata.labels -}}
  {{- if and (ne .target "argocd") (hasKey $labels "sparkgen.dev/run") (has .object.kind (list "ConfigMap" "Job" "PodGroup")) -}}
    {{- $annotations := omit (.object.metadata.annotations | default dict) -}}
    {{- $_ := set $annotations "helm.sh/resource-policy" "keep" -}}
    {{- $metadata := set (omit .object.metadata) "annotations" $annotations -}}
    {{- $_ := set . "object" (set (omit .object) "metadata" $metadata) -}}
  {{- end -}}
{{- end -}}

{{- /*
What a hook makes for an application, by its layer and its script. Dot: (list $ hook), the document computed.
With Spark's own backend, a release may name no runtime: the script needs only Python, and there is no contract to test.
*/ -}}
{{- define "sparkgen.hook" -}}
  {{- $root := index . 0 -}}
  {{- $hook := index . 1 -}}
  {{- $call := $root.sparkgen -}}
  {{- $bySpark := dig "bySpark" false ($call.app | default dict) -}}
  {{- if and (not $call.problems) (not $call.server) (not (and $bySpark (eq $hook "test"))) -}}
    {{- $app := $call.app -}}
    {{- $image := $app.runtime.runtimeImage -}}
    {{- if and $bySpark (eq $image $app.c.RUNTIME_IMAGE) -}}
      {{- $image = $app.spec.pythonImage | default $app.c.PYTHON_IMAGE -}}
    {{- end -}}
    {{- $values := dict
        "name" $app.name
        "namespace" $root.Release.Namespace
        "release" $root.Release.Name
        "run" $call.run
        "image" $image
        "runtimeCommand" ($app.runtime.runtimeCommand | default list)
        "pullSecrets" $app.pullSecrets
        "podGroups" (eq "volcano" (dig "batch" "name" "" $app))
        "further" (ternary (list $app.t.podGroups) list (eq "volcano" (dig "batch" "name" "" $app)))
        "script" ($root.Files.Get (printf "files/%s.py" $hook)) -}}
    {{- with $app.runtime.runtimeConfigMap -}}{{- $_ := set $values "runtimeConfigMap" . -}}{{- end -}}
    {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $values "pullPolicy" . -}}{{- end -}}
    {{- $filled := dict "layer" (get $app.t.layers $hook) "values" $values -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- range $object := $filled.value.objects -}}
      {{- printf "---\n%s\n" (include "sparkgen.print" $object) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
