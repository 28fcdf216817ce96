{{- /* The warning that pods have no runtime, for NOTES.txt. In: app, path (of the field). */ -}}
{{- define "sparkgen.notes.runtimeImage" -}}
{{- $fetches := dig "delivery" "fetch" dict .app -}}
{{- $onlySpark := and .app.bySpark (not $fetches) (not (hasKey .app "history")) -}}
{{- if and (eq .app.runtime.runtimeImage .app.c.RUNTIME_IMAGE) (not $onlySpark) }}

WARNING: neither {{ .path }} nor runtimeConfigMap beside it is set, and no registry has the default,
{{ .app.runtime.runtimeImage }}: pods start only on nodes that already have this image.
Create the ConfigMap with the runtime, and set runtimeConfigMap to its name:
  sparkgen runtime {{ dig "spec" "sparkVersion" "SPARK_VERSION" .app }} | kubectl apply --server-side -f -
  sparkgen runtime {{ dig "spec" "sparkVersion" "SPARK_VERSION" .app }} --name
Or build and push an image, and set {{ .path }}:
  sparkgen image build --push REGISTRY/sparkgen-runtime:{{ .app.c.VERSION }}
{{- end -}}
{{- end -}}
