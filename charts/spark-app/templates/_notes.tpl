{{- /* The warning of SG020 (sparkgen rule SG020), for NOTES.txt. In: app, path (of the field). */ -}}
{{- define "sparkgen.notes.runtimeImage" -}}
{{- if eq .app.runtimeImage .app.c.RUNTIME_IMAGE }}

WARNING: {{ .path }} is not set, and no registry has the default, {{ .app.runtimeImage }}:
pods start only on nodes that already have this image. Build and push one, and set it in the values:
  sparkgen image build --push REGISTRY/sparkgen-runtime:{{ .app.c.VERSION }}
  helm upgrade ... --set {{ .path }}=REGISTRY/sparkgen-runtime:{{ .app.c.VERSION }}
{{- end -}}
{{- end -}}
