{{- /* A document of the kind SparkStagingServer (sparkgen/model/staging.py, resources/staging.py). */ -}}

{{- /* The server as values, and its objects. In: facts, namespace, files. Out: app (its values), objects. */ -}}
{{- define "sparkgen.stagingServer" -}}
  {{- $spec := .facts.spec -}}
  {{- $t := .facts.tables -}}
  {{- $c := $t.contract -}}
  {{- $runtime := dict "spec" $spec "c" $c -}}
  {{- template "sparkgen.runtime" $runtime -}}
  {{- $app := dict
      "component" $c.STAGING_SERVER
      "label" $c.LABEL_STAGING_SERVER
      "heap" $t.serviceHeap
      "runtime" $runtime.values
      "readOnly" ($spec.readOnly | default false) -}}
  {{- template "sparkgen.server" (set . "app" $app) -}}
  {{- template "sparkgen.stagingFiles" $app -}}
  {{- template "sparkgen.stagingValues" . -}}
  {{- template "sparkgen.made" (set . "layer" "stagingServer") -}}
{{- end -}}

{{- /* What the server's ConfigMap holds. In: app. Out: app.conf. */ -}}
{{- define "sparkgen.stagingFiles" -}}
  {{- $c := .c -}}
  {{- $values := dict "readOnly" .readOnly -}}
  {{- with .spec.storage.claim -}}{{- $_ := set $values "claim" . -}}{{- end -}}
  {{- with .spec.storage.s3 -}}{{- $_ := set $values "store" . -}}{{- end -}}
  {{- with .spec.tls -}}{{- $_ := set $values "tls" .secretName -}}{{- end -}}
  {{- $wanted := dict $c.REGISTRY_PULL_FILE "registry_pull" $c.REGISTRY_PUSH_FILE "registry_push" -}}
  {{- $conf := dict -}}
  {{- if $values.claim -}}
    {{- $_ := set $conf $c.REGISTRY_PUSH_SCRIPT_FILE (.files.Get "files/push.sh") -}}
  {{- end -}}
  {{- if hasKey .spec "garbageCollection" -}}
    {{- $_ := set $wanted $c.REGISTRY_GC_FILE "registry_gc" -}}
    {{- $_ := set $conf $c.REGISTRY_GC_SCRIPT_FILE (.files.Get "files/gc.sh") -}}
  {{- end -}}
  {{- range $name, $layer := $wanted -}}
    {{- $call := dict "layer" (get $.t.layers $layer) "values" $values -}}
    {{- template "sparkgen.fill" $call -}}
    {{- $_ := set $conf $name (include "sparkgen.canonical" $call.value) -}}
  {{- end -}}
  {{- $_ := set . "conf" $conf -}}
  {{- $_ := set . "places" $values -}}
{{- end -}}

{{- /* The values of its objects' layers. In: app. Out: values. */ -}}
{{- define "sparkgen.stagingValues" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $t := $app.t -}}
  {{- $spec := $app.spec -}}
  {{- template "sparkgen.serverValues" . -}}
  {{- $values := .values -}}
  {{- $policy := $spec.networkPolicy | default dict -}}
  {{- $pods := dict -}}
  {{- range $side := $t.stagingSides -}}
    {{- $labels := dict "maps" (list $values.podMetadata.labels (dict $c.LABEL_STAGING_SIDE $side)) -}}
    {{- template "sparkgen.laid" $labels -}}
    {{- $_ := set $pods $side (dict "labels" $labels.laid "annotations" $values.podMetadata.annotations) -}}
  {{- end -}}
  {{- range $side := list "pull" "push" -}}
    {{- $named := dict "policy" $policy "field" (printf "%sFrom" $side) -}}
    {{- template "sparkgen.peers" $named -}}
    {{- $_ := set $values (printf "%sPeers" $side) $named.peers -}}
    {{- $exposed := dict "section" $side "options" (get $spec $side | default dict) "port" $c.REGISTRY_PORT -}}
    {{- template "sparkgen.exposed" (set (set $exposed "values" $values) "t" $t) -}}
  {{- end -}}
  {{- $security := dict "maps" (list $t.podSecurity (dict "fsGroupChangePolicy" "OnRootMismatch")) -}}
  {{- template "sparkgen.laid" $security -}}
  {{- $merged := dict "base" $security.laid "over" ($spec.podSecurityContext | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $merged -}}
  {{- $resources := dict "base" $t.registryResources "over" ($spec.resources | default dict) "tables" $t -}}
  {{- template "sparkgen.merge" $resources -}}
  {{- range $key, $value := $app.places -}}{{- $_ := set $values $key $value -}}{{- end -}}
  {{- range $key, $value := $app.runtime -}}{{- $_ := set $values $key $value -}}{{- end -}}
  {{- range $key, $value := dict
      "image" ($spec.image | default $t.registryImage)
      "pods" $pods
      "replicas" ($spec.replicas | default $t.stagingReplicas)
      "podSecurity" $merged.value
      "resources" $resources.value
      "scheme" (ternary "HTTPS" "HTTP" (hasKey $spec "tls"))
      "credentials" $spec.credentials.secretName
      "pushCommand" (ternary $t.lockedPush $t.plainPush (hasKey $app.places "claim")) -}}
    {{- $_ := set $values $key $value -}}
  {{- end -}}
  {{- if hasKey $spec "garbageCollection" -}}
    {{- $section := dict "maps" (list $t.collectionDefaults $spec.garbageCollection) -}}
    {{- template "sparkgen.laid" $section -}}
    {{- $given := $section.laid -}}
    {{- $small := dict "base" $t.runtimeResources "over" ($given.resources | default dict) "tables" $t -}}
    {{- template "sparkgen.merge" $small -}}
    {{- $_ := set $values "gcPolicy" $values.policy -}}
    {{- $_ := set $values "gc" (dict
        "schedule" $given.schedule
        "suspend" (or $given.suspend $app.readOnly)
        "namespaces" (join "," $given.namespaces)
        "graceSeconds" (toRawJson $given.graceSeconds)
        "dryRun" (toRawJson $given.dryRun)
        "sweep" (ternary (append $t.sweepCommand $t.sweepDryRun) $t.sweepCommand $given.dryRun)
        "resources" $small.value) -}}
  {{- end -}}
{{- end -}}
