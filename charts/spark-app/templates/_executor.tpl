{{- /* The executor's pod template (sparkgen/resources/executor.py). */ -}}

{{- /* "true" for a password of TLS that is no reference to a variable. In: a property's name, its value. */ -}}
{{- define "sparkgen.isPassword" -}}
  {{- $isNamed := and (hasPrefix "spark.ssl" (index . 0)) (contains "Password" (index . 0)) -}}
  {{- if and $isNamed (not (regexMatch `^\$\{[^{}]+\}$` (index . 1))) -}}true{{- end -}}
{{- end -}}

{{- /* The values of the executor's layers. In: app, role. In, out: values. */ -}}
{{- define "sparkgen.executor.values" -}}
  {{- $c := .app.c -}}
  {{- $options := list -}}
  {{- $fixed := .app.t.fixedPorts -}}
  {{- if hasKey .app "shuffle" -}}{{- $fixed = append $fixed "spark.shuffle.service.port" -}}{{- end -}}
  {{- $wanted := set (omit .app.properties) "spark.authenticate" (dig "spark.authenticate" "true" .app.properties) -}}
  {{- range $name, $text := $wanted -}}
    {{- if and (not (has $name $fixed)) (regexMatch "(?s)^spark\\.(auth|rpc|network|ssl|port\\.|(.*\\.)?port$)" $name)
        (ne $name "spark.authenticate.secret") (not (include "sparkgen.isPassword" (list $name $text))) -}}
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
  {{- if include "sparkgen.isTrue" (list .app.properties "spark.ssl.rpc.enabled" false) -}}
    {{- range $field, $variable := .app.t.rpcPasswords -}}
      {{- $name := printf "spark.ssl.rpc.%s" $field -}}
      {{- if not (hasKey $.app.properties $name) -}}{{- $name = printf "spark.ssl.%s" $field -}}{{- end -}}
      {{- $text := get $.app.properties $name -}}
      {{- if and (hasKey $.app.properties $name) (include "sparkgen.isPassword" (list $name $text)) -}}
        {{- $env = append $env (dict "name" $variable "value" $text) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $own := list -}}
  {{- range $name, $text := .app.properties -}}
    {{- if and (hasPrefix "spark.executorEnv." $name) (not $.app.bySpark) -}}
      {{- $own = append $own (dict "name" (trimPrefix "spark.executorEnv." $name) "value" $text) -}}
    {{- end -}}
  {{- end -}}
  {{- $decommissions := include "sparkgen.isTrue" (list .app.properties "spark.decommission.enabled" false) -}}
  {{- if and $decommissions (not .role.spec.lifecycle) -}}
    {{- $script := dig "spark.kubernetes.decommission.script" .app.t.decommissionScript .app.properties -}}
    {{- $_ := set .values "decommissionScript" $script -}}
  {{- end -}}
  {{- template "sparkgen.shuffleValues" . -}}
  {{- with .role.spec.serviceAccount -}}{{- $_ := set $.values "account" . -}}{{- end -}}
  {{- $javaOptions := list .role.javaOptions -}}
  {{- range $kind := list "default" "extra" -}}
    {{- $said := get $.app.properties (printf "spark.driver.%sJavaOptions" $kind) -}}
    {{- if has $.app.t.preferIPv6 (regexSplit "\\s+" $said -1) -}}
      {{- $javaOptions = prepend (without $javaOptions $.app.t.preferIPv6) $.app.t.preferIPv6 -}}
    {{- end -}}
  {{- end -}}
  {{- range $name, $value := dict
      "cores" (toString .role.cores)
      "heap" .role.heap
      "proxyUser" (.app.spec.proxyUser | default "")
      "classPath" (get .app.properties "spark.executor.extraClassPath")
      "libraryPath" (get .app.properties "spark.executor.extraLibraryPath")
      "pythonFiles" (join ":" .app.imageModules.files)
      "customLogUrl" (hasKey .app.properties "spark.ui.custom.executor.log.url")
      "archivedLogUrl" (and (hasKey .app "archive") (hasKey .app.properties "spark.ui.custom.executor.log.url"))
      "javaOptions" (without $javaOptions "" | join " ")
      "executorEnv" $own
      "startupEnv" $env -}}
    {{- $_ := set $.values $name $value -}}
  {{- end -}}
{{- end -}}
