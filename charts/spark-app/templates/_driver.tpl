{{- /* The driver's pod (sparkgen/resources/driver.py). In of every step: app, role, run. Out: value. */ -}}

{{- /* What `install` and `allocator` share. In: app, name, args. Out: container. */ -}}
{{- define "sparkgen.runtimeContainer" -}}
  {{- $resources := dict "base" .app.t.runtimeResources "over" .app.allocatorResources "tables" .app.t -}}
  {{- template "sparkgen.merge" $resources -}}
  {{- $container := dict
      "name" .name
      "image" .app.runtimeImage
      "args" .args
      "resources" $resources.value
      "securityContext" (set (omit .app.t.restricted) "readOnlyRootFilesystem" true) -}}
  {{- with .app.spec.imagePullPolicy -}}{{- $_ := set $container "imagePullPolicy" . -}}{{- end -}}
  {{- $_ := set . "container" $container -}}
{{- end -}}

{{- /* In: app, run. Out: env. */ -}}
{{- define "sparkgen.runEnv" -}}
  {{- $_ := set . "env" (list
      (dict "name" .app.c.ENV_CONTRACT "value" (toRawJson .app.c.VERSION))
      (dict "name" .app.c.ENV_APPLICATION "value" .app.name)
      (dict "name" .app.c.ENV_RUN "value" .run)) -}}
{{- end -}}

{{- /* A variable with a field of the pod, as JSON. Dot: (list name path). */ -}}
{{- define "sparkgen.fieldEnv" -}}
  {{- dict "name" (index . 0) "valueFrom" (dict "fieldRef" (dict "fieldPath" (index . 1))) | toRawJson -}}
{{- end -}}

{{- define "sparkgen.step.install_container" -}}
  {{- $c := .app.c -}}
  {{- $call := dict "app" .app "name" $c.INSTALL_CONTAINER "args" (list "install") "run" .run -}}
  {{- template "sparkgen.runtimeContainer" $call -}}
  {{- template "sparkgen.runEnv" $call -}}
  {{- $_ := set $call.container "env" (append $call.env (dict
      "name" $c.ENV_SCALA_VERSION "value" .app.scalaVersion)) -}}
  {{- $_ := set $call.container "volumeMounts" (list
      (dict "name" $c.LIB_VOLUME "mountPath" $c.LIB_DIR)
      (dict "name" $c.TUNING_VOLUME "mountPath" $c.TUNING_DIR "readOnly" true)) -}}
  {{- $_ := set . "value" (dict "spec" (dict "initContainers" (list $call.container))) -}}
{{- end -}}

{{- define "sparkgen.step.allocator_container" -}}
  {{- $c := .app.c -}}
  {{- $call := dict "app" .app "name" $c.ALLOCATOR_CONTAINER "args" (list "allocator") "run" .run -}}
  {{- template "sparkgen.runtimeContainer" $call -}}
  {{- template "sparkgen.runEnv" $call -}}
  {{- $container := $call.container -}}
  {{- $_ := set $container "restartPolicy" "Always" -}}
  {{- $_ := set $container "env" (concat $call.env (list
      (include "sparkgen.fieldEnv" (list $c.ENV_POD_NAME "metadata.name") | fromJson)
      (include "sparkgen.fieldEnv" (list $c.ENV_POD_NAMESPACE "metadata.namespace") | fromJson)
      (include "sparkgen.fieldEnv" (list $c.ENV_POD_UID "metadata.uid") | fromJson)
      (include "sparkgen.fieldEnv" (list $c.ENV_POD_IP "status.podIP") | fromJson))) -}}
  {{- if dig "shuffle" "onNode" false .app -}}
    {{- with .app.shuffle.secretName -}}
      {{- $secret := include "sparkgen.secretEnv" (list $c.ENV_SERVICE_SECRET . $c.SECRET_KEY) | fromJson -}}
      {{- $_ := set $container "env" (append $container.env $secret) -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set $container "ports" (list (dict
      "name" $c.ALLOCATOR_CONTAINER "containerPort" $c.ALLOCATOR_PORT)) -}}
  {{- $_ := set $container "startupProbe" (dict
      "httpGet" (dict "path" $c.READY_PATH "port" $c.ALLOCATOR_PORT) "periodSeconds" 1 "failureThreshold" 120) -}}
  {{- $_ := set $container "livenessProbe" (dict
      "httpGet" (dict "path" $c.HEALTH_PATH "port" $c.ALLOCATOR_PORT) "periodSeconds" 10 "failureThreshold" 6) -}}
  {{- $_ := set $container "volumeMounts" (list
      (dict "name" $c.SESSION_VOLUME "mountPath" $c.SESSION_DIR)
      (dict "name" $c.CONF_VOLUME "mountPath" $c.CONF_DIR "readOnly" true)
      (dict "name" $c.EXECUTOR_VOLUME "mountPath" $c.EXECUTOR_DIR "readOnly" true)
      (dict "name" $c.TUNING_VOLUME "mountPath" $c.TUNING_DIR "readOnly" true)
      (dict "name" $c.TOKEN_VOLUME "mountPath" $c.TOKEN_DIR "readOnly" true)) -}}
  {{- $_ := set . "value" (dict "spec" (dict "initContainers" (list $container))) -}}
{{- end -}}

{{- define "sparkgen.driver.spark_container" -}}
  {{- $c := .app.c -}}
  {{- $arguments := list "driver" "--properties-file" $c.SESSION_PROPERTIES -}}
  {{- with .app.spec.proxyUser -}}{{- $arguments = append (append $arguments "--proxy-user") . -}}{{- end -}}
  {{- with .app.spec.mainClass -}}{{- $arguments = append (append $arguments "--class") . -}}{{- end -}}
  {{- with .app.spec.mainApplicationFile -}}{{- $arguments = append $arguments . -}}{{- end -}}
  {{- $env := list
      (include "sparkgen.fieldEnv" (list $c.ENV_BIND_ADDRESS "status.podIP") | fromJson)
      (dict "name" $c.ENV_SPARK_CONF_DIR "value" $c.CONF_DIR) -}}
  {{- template "sparkgen.confFolder" . -}}
  {{- $mounts := list
      (dict "name" $c.LIB_VOLUME "mountPath" $c.LIB_DIR "readOnly" true)
      (dict "name" $c.SESSION_VOLUME "mountPath" $c.SESSION_DIR "readOnly" true)
      .mount -}}
  {{- if .app.hadoop -}}
    {{- $env = append $env (dict "name" $c.ENV_HADOOP_CONF_DIR "value" $c.HADOOP_DIR) -}}
    {{- $mounts = append $mounts (dict "name" $c.HADOOP_VOLUME "mountPath" $c.HADOOP_DIR "readOnly" true) -}}
  {{- end -}}
  {{- template "sparkgen.main" (set . "fields" (dict
      "args" (concat $arguments (.app.spec.arguments | default list))
      "ports" (list
        (dict "name" "driver-rpc-port" "containerPort" $c.DRIVER_PORT)
        (dict "name" "blockmanager" "containerPort" $c.BLOCK_MANAGER_PORT)
        (dict "name" "spark-ui" "containerPort" $c.UI_PORT))
      "env" $env
      "volumeMounts" $mounts)) -}}
{{- end -}}

{{- define "sparkgen.step.pod_volumes" -}}
  {{- $c := .app.c -}}
  {{- $volumes := list
      (dict "name" $c.LIB_VOLUME "emptyDir" (dict "sizeLimit" "64Mi"))
      (dict "name" $c.SESSION_VOLUME "emptyDir" (dict "medium" "Memory" "sizeLimit" "16Mi"))
      (dict "name" $c.CONF_VOLUME "configMap" (dict "name" (printf "%s-conf" .run)))
      (dict "name" $c.EXECUTOR_VOLUME "configMap" (dict "name" (printf "%s-executor" .run)))
      (dict "name" $c.TUNING_VOLUME "configMap" (dict "name" (printf "%s-tuning" .app.name)))
      (dict "name" $c.TOKEN_VOLUME "projected" (dict "sources" .app.t.tokenSources)) -}}
  {{- if .app.confSources -}}
    {{- template "sparkgen.confFolder" . -}}
    {{- $volumes = append $volumes .volume -}}
  {{- end -}}
  {{- if .app.hadoop -}}
    {{- $volumes = append $volumes (dict "name" $c.HADOOP_VOLUME "configMap" (dict "name" (printf "%s-hadoop" .run))) -}}
  {{- end -}}
  {{- $_ := set . "value" (dict "spec" (dict "volumes" $volumes)) -}}
{{- end -}}

{{- define "sparkgen.driver.identity" -}}
  {{- $_ := set . "value" (dict
      "metadata" (dict "labels" (dict .app.c.LABEL_RUN .run))
      "spec" (dict
        "serviceAccountName" .app.account.name
        "automountServiceAccountToken" false
        "restartPolicy" (ternary "Always" "Never" (eq .app.restart "Always")))) -}}
{{- end -}}

{{- /* Two steps that driver and executors both have, each in its own way. */ -}}
{{- define "sparkgen.step.spark_container" -}}
  {{- include (printf "sparkgen.%s.spark_container" .role.name) . -}}
{{- end -}}

{{- define "sparkgen.step.identity" -}}
  {{- include (printf "sparkgen.%s.identity" .role.name) . -}}
{{- end -}}
