{{- /* What driver and executor pods have in common (sparkgen/resources/pod.py, security.py). */ -}}

{{- /*
The pod template of a role for one run. What is the same for every run is made once, and kept in `app.pods`.
In: app, role, run. Out: pod.
*/ -}}
{{- define "sparkgen.pod" -}}
  {{- $steps := get .app.t.steps .role.name -}}
  {{- if not (hasKey .app.pods .role.name) -}}
    {{- $once := dict "app" .app "role" .role "steps" $steps.once -}}
    {{- template "sparkgen.podValues" $once -}}
    {{- include (printf "sparkgen.%s.values" .role.name) $once -}}
    {{- template "sparkgen.assembled" (set $once "pod" (dict "metadata" (dict "labels" dict) "spec" dict)) -}}
    {{- $_ := set .app.pods .role.name $once -}}
  {{- end -}}
  {{- $call := set (get .app.pods .role.name | omit) "steps" $steps.perRun -}}
  {{- $_ := set $call "values" (set (omit $call.values) "run" .run) -}}
  {{- template "sparkgen.assembled" $call -}}
  {{- template "sparkgen.secured" $call -}}
  {{- $_ := set . "pod" $call.pod -}}
{{- end -}}

{{- /* One layer after the other over a pod. In: app, values, steps. In, out: pod. */ -}}
{{- define "sparkgen.assembled" -}}
  {{- range $name := .steps -}}
    {{- $step := dict "layer" (get $.app.t.layers $name) "values" $.values -}}
    {{- template "sparkgen.fill" $step -}}
    {{- $call := dict "base" $.pod "over" ($step.value | default dict) "tables" $.app.t -}}
    {{- template "sparkgen.merge" $call -}}
    {{- $_ := set $ "pod" $call.value -}}
  {{- end -}}
{{- end -}}

{{- /* The values that the layers of both roles have places for, but for the run. In: app, role. Out: values. */ -}}
{{- define "sparkgen.podValues" -}}
  {{- $c := .app.c -}}
  {{- $call := dict "app" .app "role" .role -}}
  {{- template "sparkgen.podTemplate" $call -}}
  {{- template "sparkgen.limits" $call -}}
  {{- template "sparkgen.usedVolumes" $call -}}
  {{- template "sparkgen.localDirs" $call -}}
  {{- template "sparkgen.deliveryValues" $call -}}
  {{- $resources := dict "base" .app.t.runtimeResources "over" .app.allocatorResources "tables" .app.t -}}
  {{- template "sparkgen.merge" $resources -}}
  {{- $labels := dict "maps" (list .app.labels .role.labels) -}}
  {{- template "sparkgen.laid" $labels -}}
  {{- $labels = dict "app" .app "role" .role "texts" $labels.laid -}}
  {{- template "sparkgen.allowed" $labels -}}
  {{- $noted := dict "app" .app "role" .role "texts" .role.annotations -}}
  {{- template "sparkgen.allowed" $noted -}}
  {{- $objects := dict "secrets" .role.spec.secrets "configMaps" .role.spec.configMaps "t" .app.t -}}
  {{- template "sparkgen.mountedObjects" $objects -}}
  {{- $mounted := dict "base" (dict "env" list "volumeMounts" list "volumes" list) "over" $objects.mounted "tables" .app.t -}}
  {{- template "sparkgen.merge" $mounted -}}
  {{- $containers := .role.spec.initContainers | default list -}}
  {{- range $sidecar := .role.spec.sidecars -}}
    {{- $containers = append $containers (set (omit $sidecar) "restartPolicy" "Always") -}}
  {{- end -}}
  {{- $values := dict
      "name" .app.name
      "bySpark" .app.bySpark
      "byAllocator" (not .app.bySpark)
      "concurrency" .app.concurrency
      "scratchVolume" (ternary (print $c.LOCAL_DIR_VOLUME_PREFIX "1") $c.SCRATCH_VOLUME .app.bySpark)
      "role" .role.spec
      "roleName" .role.name
      "mainContainer" (get .app.t.mainContainer .role.name)
      "template" $call.template
      "appNameLabel" (include "sparkgen.appNameLabel" .app)
      "sparkVersion" .app.spec.sparkVersion
      "podLabels" $labels.allowed
      "podAnnotations" $noted.allowed
      "image" .role.image
      "pullSecrets" .app.pullSecrets
      "runtimeResources" $resources.value
      "coreRequest" .role.coreRequest
      "memory" .role.total
      "limits" $call.limits
      "objectEnv" $mounted.value.env
      "objectMounts" $mounted.value.volumeMounts
      "objectVolumes" $mounted.value.volumes
      "usedVolumes" $call.usedVolumes
      "userContainers" $containers
      "localDirs" (join "," $call.localDirs | default $c.SCRATCH_DIR)
      "localDirMounts" $call.localDirMounts
      "ownScratch" (empty $call.localDirs)
      "hadoop" (or .app.hadoop .app.hadoopConfigMap)
      "ownHadoop" .app.hadoop
      "hadoopConfigMap" .app.hadoopConfigMap
      "kerberosConfigMap" .app.krb5ConfigMap
      "plainConf" (not .app.confSources)
      "confSources" .app.confSources
      "confVolumeName" (ternary $c.CONF_FILES_VOLUME $c.CONF_VOLUME (not (empty .app.confSources)))
      "account" .app.account.name -}}
  {{- range $name, $value := .app.runtime -}}{{- $_ := set $values $name $value -}}{{- end -}}
  {{- range $name, $value := $call.delivery -}}{{- $_ := set $values $name $value -}}{{- end -}}
  {{- with .role.imagePullPolicy -}}{{- $_ := set $values "rolePullPolicy" . -}}{{- end -}}
  {{- with .app.spec.imagePullPolicy -}}{{- $_ := set $values "pullPolicy" . -}}{{- end -}}
  {{- if include "sparkgen.isTrue" (list .app.properties "spark.kubernetes.local.dirs.tmpfs" false) -}}
    {{- $_ := set $values "scratchMedium" "Memory" -}}
  {{- end -}}
  {{- $pools := list -}}
  {{- range $pool := .role.spec.pools -}}
    {{- $made := dict "name" $pool.name "share" (int ($pool.share | default 0)) -}}
    {{- range $field := list "nodeSelector" "tolerations" -}}
      {{- with get $pool $field -}}{{- $_ := set $made $field . -}}{{- end -}}
    {{- end -}}
    {{- $pools = append $pools $made -}}
  {{- end -}}
  {{- if $pools -}}{{- $_ := set $values "pools" (include "sparkgen.canonical" $pools) -}}{{- end -}}
  {{- $_ := set . "values" $values -}}
  {{- template "sparkgen.logArchiveValues" . -}}
  {{- template "sparkgen.batchValues" . -}}
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

{{- /* The labels, or annotations, that pods of a role may carry. In: role, app, texts. Out: allowed. */ -}}
{{- define "sparkgen.allowed" -}}
  {{- $allowed := dict -}}
  {{- range $key, $text := .texts -}}
    {{- $banned := false -}}
    {{- if and (eq $.role.name "executor") (not (has $key $.app.c.QUEUE_TOPOLOGY)) -}}
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

{{- /* The document's own pod template. In: app, role. Out: template. */ -}}
{{- define "sparkgen.podTemplate" -}}
  {{- $given := .role.spec.template | default dict -}}
  {{- $metadata := dict -}}
  {{- range $field, $texts := pick ($given.metadata | default dict) "labels" "annotations" -}}
    {{- $call := dict "app" $.app "role" $.role "texts" $texts -}}
    {{- template "sparkgen.allowed" $call -}}
    {{- if $texts -}}{{- $_ := set $metadata $field $call.allowed -}}{{- end -}}
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
    {{- $_ := set $spec "containers" (concat (list (omit (first $own) "command")) (rest $own) $others) -}}
  {{- end -}}
  {{- $_ := set . "template" (dict "metadata" $metadata "spec" $spec) -}}
{{- end -}}

{{- /* Limits of the Spark container. In: app, role. Out: limits. */ -}}
{{- define "sparkgen.limits" -}}
  {{- $limits := dict "memory" (printf "%dMi" .role.total) -}}
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
  {{- $_ := set . "limits" $limits -}}
{{- end -}}

{{- /* Secrets and ConfigMaps as a section names them. In: secrets, configMaps, t. Out: mounted (env, volumeMounts, volumes). */ -}}
{{- define "sparkgen.mountedObjects" -}}
  {{- $prefix := .t.contract.VOLUME_PREFIX -}}
  {{- $env := list -}}
  {{- $mounts := list -}}
  {{- $volumes := list -}}
  {{- range $secret := .secrets -}}
    {{- $name := include "sparkgen.volumeName" (list $prefix "secret" $secret.name) -}}
    {{- $volumes = append $volumes (dict "name" $name "secret" (dict "secretName" $secret.name)) -}}
    {{- $mounts = append $mounts (dict "name" $name "mountPath" $secret.path "readOnly" true) -}}
    {{- with get $.t.secretTypes ($secret.secretType | default "Generic") -}}
      {{- $file := printf "%s/%s" (regexReplaceAll "/+$" $secret.path "") (index . 1) -}}
      {{- $env = append $env (dict "name" (index . 0) "value" $file) -}}
    {{- end -}}
  {{- end -}}
  {{- range $configMap := .configMaps -}}
    {{- $name := include "sparkgen.volumeName" (list $prefix "config" $configMap.name) -}}
    {{- $volumes = append $volumes (dict "name" $name "configMap" (dict "name" $configMap.name)) -}}
    {{- $mounts = append $mounts (dict "name" $name "mountPath" $configMap.path "readOnly" true) -}}
  {{- end -}}
  {{- $_ := set . "mounted" (dict "env" $env "volumeMounts" $mounts "volumes" $volumes) -}}
{{- end -}}

{{- /* The document's volumes that a container of the role mounts. In: app, role. Out: usedVolumes. */ -}}
{{- define "sparkgen.usedVolumes" -}}
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
  {{- with dig "delivery" "fetch" "cacheVolume" "" .app -}}{{- $_ := set $wanted . true -}}{{- end -}}
  {{- $used := list -}}
  {{- range $volume := .app.spec.volumes -}}
    {{- if hasKey $wanted $volume.name -}}{{- $used = append $used $volume -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "usedVolumes" $used -}}
{{- end -}}

{{- /* The mounts that a document means as scratch space. In: app, role, template. Out: localDirs (paths), localDirMounts. */ -}}
{{- define "sparkgen.localDirs" -}}
  {{- $own := first (.template.spec.containers | default (list dict)) -}}
  {{- $given := dict -}}
  {{- $places := list -}}
  {{- range $mount := concat ($own.volumeMounts | default list) (.role.spec.volumeMounts | default list) -}}
    {{- if hasPrefix $.app.c.LOCAL_DIR_VOLUME_PREFIX $mount.name -}}
      {{- if not (hasKey $given $mount.mountPath) -}}{{- $places = append $places $mount.mountPath -}}{{- end -}}
      {{- $_ := set $given $mount.mountPath $mount -}}
    {{- end -}}
  {{- end -}}
  {{- $mounts := list -}}
  {{- range $place := $places -}}{{- $mounts = append $mounts (get $given $place) -}}{{- end -}}
  {{- $_ := set (set . "localDirs" $places) "localDirMounts" $mounts -}}
{{- end -}}
