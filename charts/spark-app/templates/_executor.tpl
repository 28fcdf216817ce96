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

{{- define "sparkgen.executor.spark_container" -}}
  {{- $c := .app.c -}}
  {{- $env := list
      (dict "name" $c.ENV_EXECUTOR_CORES "value" (toString .role.cores))
      (dict "name" $c.ENV_EXECUTOR_MEMORY "value" (printf "%dm" .role.heap))
      (include "sparkgen.fieldEnv" (list $c.ENV_EXECUTOR_POD_IP "status.podIP") | fromJson)
      (include "sparkgen.fieldEnv" (list $c.ENV_EXECUTOR_POD_NAME "metadata.name") | fromJson)
      (dict "name" $c.ENV_SPARK_CONF_DIR "value" $c.CONF_DIR) -}}
  {{- template "sparkgen.confFolder" . -}}
  {{- $mounts := list .mount -}}
  {{- if .app.hadoop -}}
    {{- $env = append $env (dict "name" $c.ENV_HADOOP_CONF_DIR "value" $c.HADOOP_DIR) -}}
    {{- $mounts = append $mounts (dict "name" $c.HADOOP_VOLUME "mountPath" $c.HADOOP_DIR "readOnly" true) -}}
  {{- end -}}
  {{- with .app.spec.proxyUser -}}
    {{- $env = append $env (dict "name" $c.ENV_SPARK_USER "value" .) -}}
  {{- end -}}
  {{- with get .app.properties "spark.executor.extraClassPath" -}}
    {{- $env = append $env (dict "name" $c.ENV_CLASSPATH "value" .) -}}
  {{- end -}}
  {{- with .role.javaOptions -}}
    {{- $env = append $env (dict "name" $c.ENV_EXECUTOR_JAVA_OPTIONS "value" .) -}}
  {{- end -}}
  {{- $wanted := set (omit .app.properties) "spark.authenticate" (dig "spark.authenticate" "true" .app.properties) -}}
  {{- $options := 0 -}}
  {{- $fixed := .app.t.fixedPorts -}}
  {{- if hasKey .app "shuffle" -}}{{- $fixed = append $fixed "spark.shuffle.service.port" -}}{{- end -}}
  {{- range $name, $text := $wanted -}}
    {{- if and (not (has $name $fixed)) (regexMatch "(?s)^spark\\.(auth|rpc|network|ssl|port\\.|(.*\\.)?port$)" $name)
        (ne $name "spark.authenticate.secret") -}}
      {{- $env = append $env (dict
          "name" (printf "%s%d" $c.ENV_JAVA_OPT_PREFIX $options) "value" (printf "-D%s=%s" $name $text)) -}}
      {{- $options = add1 $options -}}
    {{- end -}}
  {{- end -}}
  {{- if dig "shuffle" "onNode" false .app -}}
    {{- $env = append $env (dict
        "name" (printf "%s%d" $c.ENV_JAVA_OPT_PREFIX $options)
        "value" (printf "-Dspark.blockManager.port=$(%s)" $c.ENV_BLOCK_MANAGER_PORT)) -}}
  {{- end -}}
  {{- template "sparkgen.main" (set . "fields" (dict
      "args" (list "bash" (printf "%s/%s" $c.CONF_DIR $c.EXECUTOR_SCRIPT_FILE))
      "ports" (list (dict "name" "blockmanager" "containerPort" $c.BLOCK_MANAGER_PORT))
      "env" $env
      "volumeMounts" $mounts)) -}}
{{- end -}}

{{- define "sparkgen.executor.identity" -}}
  {{- $c := .app.c -}}
  {{- template "sparkgen.confFolder" . -}}
  {{- $volumes := list .volume -}}
  {{- if .app.hadoop -}}
    {{- $volumes = append $volumes (dict "name" $c.HADOOP_VOLUME "configMap" (dict "name" (printf "%s-hadoop" .run))) -}}
  {{- end -}}
  {{- $_ := set . "value" (dict
      "metadata" (dict "labels" (dict $c.LABEL_RUN .run))
      "spec" (dict
        "volumes" $volumes
        "serviceAccountName" (.role.spec.serviceAccount | default .app.account.name)
        "automountServiceAccountToken" false
        "restartPolicy" "Never")) -}}
{{- end -}}
