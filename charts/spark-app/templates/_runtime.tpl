{{- /* Where sparkgen's containers get their program from (sparkgen/model/runtime.py, sparkgen/resources/runtime.py). */ -}}

{{- /* In: spec, c. Out: values (for the layers of these containers). */ -}}
{{- define "sparkgen.runtime" -}}
  {{- $values := dict "runtimeImage" (.spec.runtimeImage | default .c.RUNTIME_IMAGE) -}}
  {{- if and .spec.runtimeConfigMap (not .spec.runtimeImage) -}}
    {{- $values = dict
        "runtimeImage" (.spec.pythonImage | default .c.PYTHON_IMAGE)
        "runtimeConfigMap" .spec.runtimeConfigMap
        "runtimeCommand" .c.RUNTIME_COMMAND -}}
  {{- end -}}
  {{- $_ := set . "values" $values -}}
{{- end -}}
