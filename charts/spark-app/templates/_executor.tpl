{{- /* The executor's pod template (sparkgen/resources/executor.py). In of every step: app, role, run. Out: value. */ -}}

{{- define "sparkgen.step.executor_env" -}}
  {{- $env := list -}}
  {{- range $name, $text := .app.properties -}}
    {{- if hasPrefix "spark.executorEnv." $name -}}
      {{- $env = append $env (dict "name" (trimPrefix "spark.executorEnv." $name) "value" $text) -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "value" dict -}}
  {{- if $env -}}{{- template "sparkgen.main" (set . "fields" (dict "env" $env)) -}}{{- end -}}
{{- end -}}

{{- define "sparkgen.step.decommission" -}}
  {{- $enabled := include "sparkgen.isTrue" (list .app.properties "spark.decommission.enabled" false) -}}
  {{- $_ := set . "value" dict -}}
  {{- if and $enabled (not .role.spec.lifecycle) -}}
    {{- $script := dig "spark.kubernetes.decommission.script" .app.t.decommissionScript .app.properties -}}
    {{- template "sparkgen.main" (set . "fields" (dict
        "lifecycle" (dict "preStop" (dict "exec" (dict "command" (list $script)))))) -}}
  {{- end -}}
{{- end -}}

{{- /* The values of the executor's layers. In: app, role, run. In, out: values. */ -}}
{{- define "sparkgen.executor.values" -}}
  {{- $c := .app.c -}}
  {{- $options := list -}}
  {{- $fixed := .app.t.fixedPorts -}}
  {{- if hasKey .app "shuffle" -}}{{- $fixed = append $fixed "spark.shuffle.service.port" -}}{{- end -}}
  {{- $wanted := set (omit .app.properties) "spark.authenticate" (dig "spark.authenticate" "true" .app.properties) -}}
  {{- range $name, $text := $wanted -}}
    {{- if and (not (has $name $fixed)) (regexMatch "(?s)^spark\\.(auth|rpc|network|ssl|port\\.|(.*\\.)?port$)" $name)
        (ne $name "spark.authenticate.secret") -}}
      {{- $options = append $options (printf "-D%s=%s" $name $text) -}}
    {{- end -}}
  {{- end -}}
  {{- if dig "shuffle" "onNode" false .app -}}
    {{- $options = append $options (printf "-Dspark.blockManager.port=$(%s)" $c.ENV_BLOCK_MANAGER_PORT) -}}
  {{- end -}}
  {{- $env := list -}}
  {{- range $index, $option := $options -}}
    {{- $env = append $env (dict "name" (printf "%s%d" $c.ENV_JAVA_OPT_PREFIX $index) "value" $option) -}}
  {{- end -}}
  {{- with .role.spec.serviceAccount -}}{{- $_ := set $.values "account" . -}}{{- end -}}
  {{- range $name, $value := dict
      "cores" (toString .role.cores)
      "heap" .role.heap
      "proxyUser" (.app.spec.proxyUser | default "")
      "classPath" (get .app.properties "spark.executor.extraClassPath")
      "javaOptions" .role.javaOptions
      "startupEnv" $env -}}
    {{- $_ := set $.values $name $value -}}
  {{- end -}}
{{- end -}}
