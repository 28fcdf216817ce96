{{- /* What Spark's daemons have in common, whatever they serve (sparkgen/model/server.py, resources/server.py). */ -}}

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
      "pullSecrets" $secrets
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

{{- /* A file of properties. Dot: the properties. */ -}}
{{- define "sparkgen.propertyLines" -}}
  {{- range $name, $text := . -}}
    {{- include "sparkgen.propertyKey" $name }} {{ include "sparkgen.propertyValue" $text }}{{ "\n" -}}
  {{- end -}}
{{- end -}}

{{- /* The values that the layers of both servers have places for. In: app (with conf). Out: values. */ -}}
{{- define "sparkgen.serverValues" -}}
  {{- $app := .app -}}
  {{- $account := $app.spec.serviceAccount | default dict -}}
  {{- $policy := $app.spec.networkPolicy | default dict -}}
  {{- $labels := dict "maps" (list $app.labels $app.ownLabels) -}}
  {{- template "sparkgen.laid" $labels -}}
  {{- $noted := dict "maps" (list $app.annotations $account.annotations) -}}
  {{- template "sparkgen.laid" $noted -}}
  {{- $podLabels := dict "maps" (list
      (dict "sidecar.istio.io/inject" "false") $app.labels $app.spec.labels $app.ownLabels) -}}
  {{- template "sparkgen.laid" $podLabels -}}
  {{- $config := include "sparkgen.canonical" $app.conf | sha256sum | trunc 16 -}}
  {{- $podNotes := dict "maps" (list
      (dict $app.t.serverConfigAnnotation $config "linkerd.io/inject" "disabled") $app.spec.annotations) -}}
  {{- template "sparkgen.laid" $podNotes -}}
  {{- $_ := set . "values" (dict
      "name" $app.name
      "namespace" $app.namespace
      "labels" $labels.laid
      "annotations" $app.annotations
      "podMetadata" (dict "labels" $podLabels.laid "annotations" $podNotes.laid)
      "account" $app.account
      "createAccount" (dig "create" true $account)
      "accountAnnotations" $noted.laid
      "files" $app.conf
      "policy" (and (hasKey $app.spec "networkPolicy") (dig "enabled" true $policy))
      "peers" ($policy.ingressFrom | default list)
      "metricsPeers" ($policy.metricsFrom | default list)
      "role" $app.spec
      "image" $app.spec.image
      "pullSecrets" $app.pullSecrets
      "heap" $app.heap) -}}
  {{- with $app.spec.imagePullPolicy -}}{{- $_ := set $.values "pullPolicy" . -}}{{- end -}}
{{- end -}}

{{- /* Peers of a field, which may be none; without it, the namespace's pods. In: policy, field. Out: peers. */ -}}
{{- define "sparkgen.peers" -}}
  {{- $_ := set . "peers" (ternary (get .policy .field) (list (dict "podSelector" dict)) (hasKey .policy .field)) -}}
{{- end -}}
