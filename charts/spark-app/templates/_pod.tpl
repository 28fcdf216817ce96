{{- /*
What driver and executor pods have in common (sparkgen/resources/pod.py, security.py). A step leaves one layer in
`value`; layers are merged in the order of tables.json. In of every step: app, role.
*/ -}}

{{- /*
The pod template of a role for one run. What is the same for every run is made once, and kept in `app.pods`.
In: app, role, run. Out: pod.
*/ -}}
{{- define "sparkgen.pod" -}}
  {{- $steps := get .app.t.steps .role.name -}}
  {{- $base := get .app.pods .role.name -}}
  {{- if not $base -}}
    {{- $call := dict "app" .app "role" .role -}}
    {{- template "sparkgen.podValues" $call -}}
    {{- include (printf "sparkgen.%s.values" .role.name) $call -}}
    {{- $_ := set $call "pod" (dict "metadata" (dict "labels" dict) "spec" dict) -}}
    {{- template "sparkgen.assembled" (set $call "steps" $steps.once) -}}
    {{- $base = $call -}}
    {{- $_ := set .app.pods .role.name $base -}}
  {{- end -}}
  {{- $call := set (omit $base) "steps" $steps.perRun -}}
  {{- $_ := set $call "values" (set (omit $base.values) "run" .run) -}}
  {{- template "sparkgen.assembled" $call -}}
  {{- template "sparkgen.secured" $call -}}
  {{- $_ := set . "pod" $call.pod -}}
{{- end -}}

{{- /* One layer after the other over a pod. In: app, role, values, steps. In, out: pod. */ -}}
{{- define "sparkgen.assembled" -}}
  {{- range $name := .steps -}}
    {{- $step := dict "app" $.app "role" $.role "values" $.values "layer" (get $.app.t.layers $name) -}}
    {{- if $step.layer -}}{{- template "sparkgen.fill" $step -}}
    {{- else -}}{{- include (printf "sparkgen.step.%s" $name) $step -}}
    {{- end -}}
    {{- $call := dict "base" $.pod "over" ($step.value | default dict) "tables" $.app.t -}}
    {{- template "sparkgen.merge" $call -}}
    {{- $_ := set $ "pod" $call.value -}}
  {{- end -}}
{{- end -}}

{{- /* The values that the layers of both roles have places for, but for the run. In: app, role. Out: values. */ -}}
{{- define "sparkgen.podValues" -}}
  {{- $c := .app.c -}}
  {{- $secrets := list -}}
  {{- range $name := .app.spec.imagePullSecrets -}}{{- $secrets = append $secrets (dict "name" $name) -}}{{- end -}}
  {{- $values := dict
      "name" .app.name
      "role" .role.spec
      "mainContainer" (get .app.t.mainContainer .role.name)
      "image" .role.image
      "pullSecrets" $secrets
      "hadoop" .app.hadoop
      "plainConf" (not .app.confSources)
      "confSources" .app.confSources
      "confVolumeName" (ternary $c.CONF_FILES_VOLUME $c.CONF_VOLUME (not (empty .app.confSources)))
      "account" .app.account.name -}}
  {{- with .role.imagePullPolicy -}}{{- $_ := set $values "rolePullPolicy" . -}}{{- end -}}
  {{- with .app.spec.imagePullPolicy -}}{{- $_ := set $values "pullPolicy" . -}}{{- end -}}
  {{- $_ := set . "values" $values -}}
{{- end -}}

{{- /* Each container restricted as far as the document does not say otherwise. In: pod, app, role. Out: pod. */ -}}
{{- define "sparkgen.secured" -}}
  {{- $main := get .app.t.mainContainer .role.name -}}
  {{- $spec := omit .pod.spec -}}
  {{- range $field := list "initContainers" "containers" -}}
    {{- if hasKey $spec $field -}}
      {{- $containers := list -}}
      {{- range $container := get $spec $field -}}
        {{- $given := $container.securityContext | default dict -}}
        {{- if not (or $given.privileged (and $given (ne $container.name $main))) -}}
          {{- $defaults := $.app.t.restricted -}}
          {{- if has "CAP_SYS_ADMIN" (dig "capabilities" "add" list $given) -}}
            {{- $defaults = omit $defaults "allowPrivilegeEscalation" -}}
          {{- end -}}
          {{- $call := dict "base" $defaults "over" $given "tables" $.app.t -}}
          {{- template "sparkgen.merge" $call -}}
          {{- $container = set (omit $container) "securityContext" $call.value -}}
        {{- end -}}
        {{- $containers = append $containers $container -}}
      {{- end -}}
      {{- $_ := set $spec $field $containers -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "pod" (set (omit .pod) "spec" $spec) -}}
{{- end -}}

{{- /* A layer that touches the Spark container alone. In: app, role, fields. Out: value. */ -}}
{{- define "sparkgen.main" -}}
  {{- $_ := set .fields "name" (get .app.t.mainContainer .role.name) -}}
  {{- $_ := set . "value" (dict "spec" (dict "containers" (list .fields))) -}}
{{- end -}}

{{- /* The labels, or annotations, that pods of a role may carry. In: role, app, texts. Out: allowed. */ -}}
{{- define "sparkgen.allowed" -}}
  {{- $allowed := dict -}}
  {{- range $key, $text := .texts -}}
    {{- $banned := false -}}
    {{- if eq $.role.name "executor" -}}
      {{- range $never := $.app.c.NEVER_ON_EXECUTORS -}}
        {{- if or (eq $key $never) (and (hasSuffix "/" $never) (hasPrefix $never $key)) -}}{{- $banned = true -}}{{- end -}}
      {{- end -}}
    {{- end -}}
    {{- if not $banned -}}{{- $_ := set $allowed $key $text -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "allowed" $allowed -}}
{{- end -}}

{{- /* The name of the volume for a Secret or ConfigMap. Dot: (list prefix kind source). */ -}}
{{- define "sparkgen.volumeName" -}}
  {{- $source := index . 2 -}}
  {{- $name := printf "%s%s-%s" (index . 0) (index . 1) $source -}}
  {{- if and (not (contains "." $source)) (le (len $name) 63) -}}
    {{- $name -}}
  {{- else -}}
    {{- $name | replace "." "-" | trunc 54 }}-{{ include "sparkgen.digest" $source -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.step.template" -}}
  {{- $given := .role.spec.template | default dict -}}
  {{- $call := dict "source" ($given.metadata | default dict) "names" (list "labels" "annotations") -}}
  {{- template "sparkgen.picked" $call -}}
  {{- $metadata := $call.picked -}}
  {{- $app := .app -}}
  {{- $role := .role -}}
  {{- range $field, $texts := omit $metadata -}}
    {{- $call := dict "app" $app "role" $role "texts" $texts -}}
    {{- template "sparkgen.allowed" $call -}}
    {{- $_ := set $metadata $field $call.allowed -}}
  {{- end -}}
  {{- $spec := omit ($given.spec | default dict) -}}
  {{- $main := get .app.t.mainContainer .role.name -}}
  {{- $own := list -}}
  {{- $others := list -}}
  {{- range $container := $spec.containers -}}
    {{- if eq $container.name $main -}}{{- $own = append $own $container -}}
    {{- else -}}{{- $others = append $others $container -}}
    {{- end -}}
  {{- end -}}
  {{- if and $others (not $own) -}}
    {{- $own = list (set (first $others | omit) "name" $main) -}}
    {{- $others = rest $others -}}
  {{- end -}}
  {{- if $own -}}
    {{- $containers := concat (list (omit (first $own) "command")) (rest $own) $others -}}
    {{- $_ := set $spec "containers" $containers -}}
  {{- end -}}
  {{- $_ := set . "value" (dict "metadata" $metadata "spec" $spec) -}}
{{- end -}}

{{- define "sparkgen.step.metadata" -}}
  {{- $labels := omit .app.labels -}}
  {{- range $key, $text := .role.labels -}}{{- $_ := set $labels $key $text -}}{{- end -}}
  {{- $call := dict "app" .app "role" .role "texts" $labels -}}
  {{- template "sparkgen.allowed" $call -}}
  {{- $noted := dict "app" .app "role" .role "texts" .role.annotations -}}
  {{- template "sparkgen.allowed" $noted -}}
  {{- $c := .app.c -}}
  {{- $own := dict
      $c.LABEL_NAME .app.name
      $c.LABEL_COMPONENT .role.name
      $c.LABEL_MANAGED_BY "sparkgen"
      $c.LABEL_APPLICATION .app.name
      $c.LABEL_ROLE .role.name -}}
  {{- range $key, $text := $own -}}{{- $_ := set $call.allowed $key $text -}}{{- end -}}
  {{- $_ := set . "value" (dict "metadata" (dict "labels" $call.allowed "annotations" $noted.allowed)) -}}
{{- end -}}

{{- define "sparkgen.step.resources" -}}
  {{- $memory := printf "%dMi" .role.total -}}
  {{- $limits := dict "memory" $memory -}}
  {{- if hasKey .role "coreLimit" -}}{{- $_ := set $limits "cpu" .role.coreLimit -}}{{- end -}}
  {{- range $key, $amount := .app.properties -}}
    {{- if regexMatch (printf "(?s)^spark\\.%s\\.resource\\..*\\.amount$" $.role.name) $key -}}
      {{- $name := $key | trimPrefix (printf "spark.%s.resource." $.role.name) | trimSuffix ".amount" -}}
      {{- with get $.app.properties (printf "spark.%s.resource.%s.vendor" $.role.name $name) -}}
        {{- $_ := set $limits (printf "%s/%s" . $name) $amount -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- with .role.spec.gpu -}}{{- $_ := set $limits .name .quantity -}}{{- end -}}
  {{- $requests := dict "cpu" .role.coreRequest "memory" $memory -}}
  {{- template "sparkgen.main" (set . "fields" (dict "resources" (dict "requests" $requests "limits" $limits))) -}}
{{- end -}}

{{- define "sparkgen.step.mounted_objects" -}}
  {{- $layer := dict -}}
  {{- $objects := list -}}
  {{- range $secret := .role.spec.secrets -}}
    {{- $name := include "sparkgen.volumeName" (list $.app.c.VOLUME_PREFIX "secret" $secret.name) -}}
    {{- $object := dict "path" $secret.path
        "volume" (dict "name" $name "secret" (dict "secretName" $secret.name)) -}}
    {{- with get $.app.t.secretTypes ($secret.secretType | default "Generic") -}}
      {{- $file := printf "%s/%s" (regexReplaceAll "/+$" $secret.path "") (index . 1) -}}
      {{- $_ := set $object "env" (list (dict "name" (index . 0) "value" $file)) -}}
    {{- end -}}
    {{- $objects = append $objects $object -}}
  {{- end -}}
  {{- range $configMap := .role.spec.configMaps -}}
    {{- $name := include "sparkgen.volumeName" (list $.app.c.VOLUME_PREFIX "config" $configMap.name) -}}
    {{- $objects = append $objects (dict "path" $configMap.path
        "volume" (dict "name" $name "configMap" (dict "name" $configMap.name))) -}}
  {{- end -}}
  {{- range $object := $objects -}}
    {{- $mount := dict "name" $object.volume.name "mountPath" $object.path "readOnly" true -}}
    {{- $fields := dict "volumeMounts" (list $mount) -}}
    {{- with $object.env -}}{{- $_ := set $fields "env" . -}}{{- end -}}
    {{- $main := dict "app" $.app "role" $.role "fields" $fields -}}
    {{- template "sparkgen.main" $main -}}
    {{- $_ := set $main.value.spec "volumes" (list $object.volume) -}}
    {{- $call := dict "base" $layer "over" $main.value "tables" $.app.t -}}
    {{- template "sparkgen.merge" $call -}}
    {{- $layer = $call.value -}}
  {{- end -}}
  {{- $_ := set . "value" $layer -}}
{{- end -}}

{{- define "sparkgen.step.user_containers" -}}
  {{- $containers := .role.spec.initContainers | default list -}}
  {{- range $sidecar := .role.spec.sidecars -}}
    {{- $containers = append $containers (set (omit $sidecar) "restartPolicy" "Always") -}}
  {{- end -}}
  {{- $_ := set . "value" (dict "spec" (ternary (dict "initContainers" $containers) dict (not (empty $containers)))) -}}
{{- end -}}

{{- define "sparkgen.step.volumes" -}}
  {{- $inside := dig "template" "spec" dict .role.spec -}}
  {{- $containers := concat (list .role.spec)
      (.role.spec.initContainers | default list) (.role.spec.sidecars | default list)
      ($inside.initContainers | default list) ($inside.containers | default list) -}}
  {{- $wanted := dict -}}
  {{- range $container := $containers -}}
    {{- range $item := concat ($container.volumeMounts | default list) ($container.volumeDevices | default list) -}}
      {{- $_ := set $wanted $item.name true -}}
    {{- end -}}
  {{- end -}}
  {{- $used := list -}}
  {{- range $volume := .app.spec.volumes -}}
    {{- if hasKey $wanted $volume.name -}}{{- $used = append $used $volume -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "value" (dict "spec" (ternary (dict "volumes" $used) dict (not (empty $used)))) -}}
{{- end -}}

{{- define "sparkgen.step.scratch" -}}
  {{- $c := .app.c -}}
  {{- $template := dict "app" .app "role" .role -}}
  {{- template "sparkgen.step.template" $template -}}
  {{- $own := first ($template.value.spec.containers | default (list dict)) -}}
  {{- $given := list -}}
  {{- range $mount := concat ($own.volumeMounts | default list) (.role.spec.volumeMounts | default list) -}}
    {{- if hasPrefix $c.LOCAL_DIR_VOLUME_PREFIX $mount.name -}}{{- $given = append $given $mount.mountPath -}}{{- end -}}
  {{- end -}}
  {{- if and (eq .role.name "executor") (dig "shuffle" "onNode" false .app) -}}
    {{- $_ := set . "value" dict -}}
  {{- else if $given -}}
    {{- $env := list (dict "name" $c.ENV_LOCAL_DIRS "value" (uniq $given | join ",")) -}}
    {{- template "sparkgen.main" (set . "fields" (dict "env" $env)) -}}
  {{- else -}}
    {{- $tmpfs := include "sparkgen.isTrue" (list .app.properties "spark.kubernetes.local.dirs.tmpfs" false) -}}
    {{- template "sparkgen.main" (set . "fields" (dict
        "env" (list (dict "name" $c.ENV_LOCAL_DIRS "value" $c.SCRATCH_DIR))
        "volumeMounts" (list (dict "name" $c.SCRATCH_VOLUME "mountPath" $c.SCRATCH_DIR)))) -}}
    {{- $_ := set .value.spec "volumes" (list (dict
        "name" $c.SCRATCH_VOLUME "emptyDir" (ternary (dict "medium" "Memory") dict (eq $tmpfs "true")))) -}}
  {{- end -}}
{{- end -}}
