{{- /* What Spark's daemons have in common, whatever they serve (sparkgen/model/server.py, resources/server.py). */ -}}

{{- /* In: value, tables. Out: root, outer, spec, conf, code, problems (empty). */ -}}
{{- define "sparkgen.serverFacts" -}}
  {{- $spec := .value.spec -}}
  {{- $_ := set . "root" (list "spec") -}}
  {{- $_ := set . "outer" $spec -}}
  {{- $_ := set . "spec" $spec -}}
  {{- $_ := set . "conf" ($spec.sparkConf | default dict) -}}
  {{- $_ := set . "code" "" -}}
  {{- $_ := set . "problems" list -}}
{{- end -}}

{{- /* Every error rule about a kind of servers, in the order of their codes. In, out: facts. */ -}}
{{- define "sparkgen.serverRules" -}}
  {{- $facts := . -}}
  {{- range $code := get .tables.serverRules .server -}}
    {{- include (printf "sparkgen.%sRule.%s" $facts.server $code) (set $facts "code" $code) -}}
  {{- end -}}
{{- end -}}

{{- /*
The values that all have, beside those of the kind. In: facts, namespace, files, app (component, label, heap as text).
Out: app.
*/ -}}
{{- define "sparkgen.server" -}}
  {{- $app := .app -}}
  {{- $metadata := .facts.value.metadata -}}
  {{- $spec := .facts.spec -}}
  {{- $c := .facts.tables.contract -}}
  {{- $heap := dict "heap" $app.heap "tables" .facts.tables -}}
  {{- template "sparkgen.daemonMemory" $heap -}}
  {{- $env := list
      (dict "name" $c.ENV_SPARK_CONF_DIR "value" $c.CONF_DIR)
      (dict "name" "SPARK_DAEMON_MEMORY" "value" (printf "%dm" $heap.value)) -}}
  {{- with $spec.javaOptions -}}
    {{- $env = append $env (dict "name" "SPARK_DAEMON_JAVA_OPTS" "value" .) -}}
  {{- end -}}
  {{- $secrets := list -}}
  {{- range $name := $spec.imagePullSecrets -}}{{- $secrets = append $secrets (dict "name" $name) -}}{{- end -}}
  {{- range $key, $value := dict
      "t" .facts.tables
      "c" $c
      "files" .files
      "spec" $spec
      "name" $metadata.name
      "namespace" ($metadata.namespace | default .namespace)
      "labels" ($metadata.labels | default dict)
      "annotations" ($metadata.annotations | default dict)
      "target" ($metadata.target | default "kubectl")
      "heap" $heap.value
      "memory" $heap.memory
      "account" (dig "serviceAccount" "name" "" $spec | default $metadata.name)
      "daemonEnv" $env
      "pullSecrets" $secrets
      "selector" (dict $app.label $metadata.name)
      "logLevel" (dig "logging" "level" "INFO" $spec)
      "loggers" (dig "logging" "loggers" dict $spec)
      "ownLabels" (dict
        $c.LABEL_NAME $metadata.name
        $c.LABEL_COMPONENT $app.component
        $c.LABEL_MANAGED_BY "sparkgen"
        $app.label $metadata.name) -}}
    {{- $_ := set $app $key $value -}}
  {{- end -}}
{{- end -}}

{{- /* In: app, name. Out: metadata. */ -}}
{{- define "sparkgen.serverMetadata" -}}
  {{- $labels := omit .app.labels -}}
  {{- range $key, $text := .app.ownLabels -}}{{- $_ := set $labels $key $text -}}{{- end -}}
  {{- $metadata := dict "name" .name "namespace" .app.namespace "labels" $labels -}}
  {{- if .app.annotations -}}{{- $_ := set $metadata "annotations" (omit .app.annotations) -}}{{- end -}}
  {{- $_ := set . "metadata" $metadata -}}
{{- end -}}

{{- /* A file of properties. Dot: the properties. */ -}}
{{- define "sparkgen.propertyLines" -}}
  {{- range $name, $text := . -}}
    {{- include "sparkgen.propertyKey" $name }} {{ include "sparkgen.propertyValue" $text }}{{ "\n" -}}
  {{- end -}}
{{- end -}}

{{- /* The account and the configuration. In: app (with conf). In, out: objects. */ -}}
{{- define "sparkgen.serverBasis" -}}
  {{- $app := .app -}}
  {{- $objects := .objects -}}
  {{- $account := $app.spec.serviceAccount | default dict -}}
  {{- if not (and (hasKey $account "create") (not $account.create)) -}}
    {{- $call := dict "app" $app "name" $app.account -}}
    {{- template "sparkgen.serverMetadata" $call -}}
    {{- if $account.annotations -}}
      {{- $annotations := $call.metadata.annotations | default dict -}}
      {{- range $key, $text := $account.annotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
      {{- $_ := set $call.metadata "annotations" $annotations -}}
    {{- end -}}
    {{- $filled := dict "layer" $app.t.layers.service_account "values" $call -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- $objects = append $objects $filled.value -}}
  {{- end -}}
  {{- $call := dict "app" $app "name" (printf "%s-conf" $app.name) -}}
  {{- template "sparkgen.serverMetadata" $call -}}
  {{- $_ := set . "objects" (append $objects (dict
      "apiVersion" "v1" "kind" "ConfigMap" "metadata" $call.metadata "data" $app.conf)) -}}
{{- end -}}

{{- /* Labels and annotations of the pods. In: app (with conf). Out: podMetadata. */ -}}
{{- define "sparkgen.serverPodMetadata" -}}
  {{- $app := .app -}}
  {{- $labels := dict "sidecar.istio.io/inject" "false" -}}
  {{- range $given := list $app.labels ($app.spec.labels | default dict) $app.ownLabels -}}
    {{- range $key, $text := $given -}}{{- $_ := set $labels $key $text -}}{{- end -}}
  {{- end -}}
  {{- $annotations := dict
      $app.t.serverConfigAnnotation (include "sparkgen.canonical" $app.conf | sha256sum | trunc 16)
      "linkerd.io/inject" "disabled" -}}
  {{- range $key, $text := $app.spec.annotations -}}{{- $_ := set $annotations $key $text -}}{{- end -}}
  {{- $_ := set . "podMetadata" (dict "labels" $labels "annotations" $annotations) -}}
{{- end -}}

{{- /* The values that the layers of both servers have places for. In: app (with conf). Out: values. */ -}}
{{- define "sparkgen.serverValues" -}}
  {{- $app := .app -}}
  {{- $call := dict "app" $app "name" $app.name -}}
  {{- template "sparkgen.serverMetadata" $call -}}
  {{- template "sparkgen.serverPodMetadata" $call -}}
  {{- $_ := set . "values" (dict
      "name" $app.name
      "metadata" $call.metadata
      "podMetadata" $call.podMetadata
      "account" $app.account
      "role" $app.spec
      "image" $app.spec.image
      "pullSecrets" $app.pullSecrets
      "daemonEnv" $app.daemonEnv) -}}
  {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $.values "pullPolicy" . -}}{{- end -}}
{{- end -}}
