{{- /* Local files as pods have them (sparkgen/model/delivery.py, sparkgen/resources/delivery.py). */ -}}

{{- /*
The spec with paths in pods in place of the local entries that were pushed; an entry that no artifact has stays as it is.
In: spec, tables. Out: delivered (the spec), pythonPath (directories).
*/ -}}
{{- define "sparkgen.delivered" -}}
  {{- $_ := set (set . "delivered" .spec) "pythonPath" list -}}
  {{- if .spec.artifacts -}}
    {{- $root := .tables.contract.ARTIFACTS_DIR -}}
    {{- $spec := omit .spec -}}
    {{- $deps := omit (.spec.deps | default dict) -}}
    {{- $main := dict "spec" .spec "entry" (.spec.mainApplicationFile | default "") "artifact" (index .tables.deliveredMainFile 0) -}}
    {{- template "sparkgen.artifactPaths" $main -}}
    {{- range $path := $main.paths -}}
      {{- if and (not (hasSuffix "/" $path)) (eq $main.entry $spec.mainApplicationFile) -}}
        {{- $_ := set $spec "mainApplicationFile" (printf "%s://%s/%s/%s" (index $.tables.deliveredMainFile 1) $root $main.artifact $path) -}}
      {{- end -}}
    {{- end -}}
    {{- range $field, $how := .tables.deliveredLists -}}
      {{- if hasKey $deps $field -}}
        {{- $places := list -}}
        {{- range $entry := get $deps $field -}}
          {{- $call := dict "spec" $.spec "entry" $entry "artifact" (index $how 0) -}}
          {{- template "sparkgen.artifactPaths" $call -}}
          {{- if not $call.known -}}{{- $places = append $places $entry -}}{{- end -}}
          {{- range $path := $call.paths -}}
            {{- if not (hasSuffix "/" $path) -}}
              {{- $fragment := regexFind "(?s)#.*$" $entry -}}
              {{- $places = append $places (printf "%s://%s/%s/%s%s" (index $how 1) $root $call.artifact $path $fragment) -}}
            {{- else if eq $field "pyFiles" -}}
              {{- $_ := set $ "pythonPath" (append $.pythonPath (printf "%s/%s/%s" $root $call.artifact (trimSuffix "/" $path))) -}}
            {{- end -}}
          {{- end -}}
        {{- end -}}
        {{- $_ := set $deps $field $places -}}
      {{- end -}}
    {{- end -}}
    {{- with $deps.requirements -}}
      {{- $call := dict "spec" $.spec "entry" . "artifact" $.tables.dependencies "always" true -}}
      {{- template "sparkgen.artifactPaths" $call -}}
      {{- range $path := $call.paths -}}
        {{- if hasSuffix "/" $path -}}
          {{- $_ := set $ "pythonPath" (append $.pythonPath (printf "%s/%s/%s" $root $call.artifact (trimSuffix "/" $path))) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- if $deps -}}{{- $_ := set $spec "deps" $deps -}}{{- end -}}
    {{- $_ := set . "delivered" $spec -}}
  {{- end -}}
{{- end -}}

{{- /* The paths of an entry inside of an artifact, as the lock has them. In: spec, entry, artifact, always. Out: known, paths. */ -}}
{{- define "sparkgen.artifactPaths" -}}
  {{- $_ := set (set . "known" false) "paths" list -}}
  {{- if or .always (hasPrefix "./" .entry) (hasPrefix "../" .entry) -}}
    {{- range $one := .spec.artifacts -}}
      {{- if and (not $.known) (eq $one.name $.artifact) (hasKey $one.files $.entry) -}}
        {{- $_ := set (set $ "known" true) "paths" (get $one.files $.entry) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Python's modules in the image. Dot: properties. In, out: app: `imageModules` (path, files, submitted). */ -}}
{{- define "sparkgen.imageModules" -}}
  {{- $path := list -}}
  {{- $files := list -}}
  {{- $submitted := list -}}
  {{- range $entry := get .properties "spark.submit.pyFiles" | splitList "," -}}
    {{- $entry = include "sparkgen.stripped" $entry -}}
    {{- if regexMatch "^local:(//[^/]*)?/[^\n]*$" $entry -}}
      {{- $place := regexReplaceAll "^local:(//[^/]*)?" $entry "" -}}
      {{- if hasSuffix ".py" $place -}}{{- $files = append $files $place -}}
      {{- else -}}{{- $path = append $path $place -}}
      {{- end -}}
      {{- if regexMatch "\\.(py|zip|egg|jar|whl)$" $entry -}}{{- $submitted = append $submitted $entry -}}{{- end -}}
    {{- else -}}{{- $submitted = append $submitted $entry -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "imageModules" (dict "path" $path "files" $files "submitted" $submitted) -}}
{{- end -}}

{{- /* How pods get what was pushed. In, out: app: `delivery` (mount, artifacts, fetch), where something is in pods. */ -}}
{{- define "sparkgen.delivery" -}}
  {{- $section := .spec.delivery | default dict -}}
  {{- $mount := $section.mount | default "fetch" -}}
  {{- if or .spec.artifacts (ne $mount "fetch") -}}
    {{- $delivery := dict "byKubelet" (eq $mount "image") "artifacts" (.spec.artifacts | default list) "fetch" dict "mounted" dict -}}
    {{- $artifacts := list -}}
    {{- range $one := .spec.artifacts -}}
      {{- if hasKey $one "contents" -}}{{- $_ := set $delivery.mounted $one.name $one.contents -}}
      {{- else -}}{{- $artifacts = append $artifacts (pick $one "name" "reference" "digest" "size" "unpackedSize") -}}
      {{- end -}}
    {{- end -}}
    {{- if and $artifacts (eq $mount "fetch") -}}
      {{- $fetch := dict "artifacts" (toRawJson $artifacts) "insecure" (default false $section.insecure) -}}
      {{- with $section.caConfigMap -}}{{- $_ := set $fetch "ca" . -}}{{- end -}}
      {{- with $section.pullSecret -}}{{- $_ := set $fetch "pullSecret" . -}}{{- end -}}
      {{- with $section.cacheVolume -}}{{- $_ := set $fetch "cacheVolume" . -}}{{- end -}}
      {{- $_ := set $delivery "fetch" $fetch -}}
    {{- end -}}
    {{- $_ := set . "delivery" $delivery -}}
    {{- with $section.pullSecret -}}
      {{- $secret := dict "name" . -}}
      {{- $names := dict -}}
      {{- range $one := $.pullSecrets -}}{{- $_ := set $names $one.name true -}}{{- end -}}
      {{- if and $delivery.byKubelet (not (hasKey $names .)) -}}
        {{- $_ := set $ "pullSecrets" (append $.pullSecrets $secret) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* The values of a pod's layers. In: app, role. Out: delivery. */ -}}
{{- define "sparkgen.deliveryValues" -}}
  {{- $c := .app.c -}}
  {{- $values := dict "fetch" dict "artifactMounts" list "artifactVolumes" list "mounted" dict -}}
  {{- with .app.delivery -}}
    {{- $mounts := list -}}
    {{- $volumes := list -}}
    {{- if .fetch -}}
      {{- $mounts = list (dict "name" $c.ARTIFACTS_VOLUME "mountPath" $c.ARTIFACTS_DIR "readOnly" true) -}}
    {{- else -}}
      {{- range $one := .artifacts -}}
        {{- $name := print $c.ARTIFACT_VOLUME_PREFIX $one.name -}}
        {{- $mounts = append $mounts (dict "name" $name "mountPath" (printf "%s/%s" $c.ARTIFACTS_DIR $one.name) "readOnly" true) -}}
        {{- if not (hasKey $one "contents") -}}
          {{- $volumes = append $volumes (dict "name" $name "image" (dict "reference" $one.reference "pullPolicy" "IfNotPresent")) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- $values = dict "fetch" .fetch
        "artifactMounts" $mounts "artifactVolumes" $volumes "mounted" .mounted -}}
  {{- end -}}
  {{- $byKubelet := dig "delivery" "byKubelet" false .app -}}
  {{- $inConfigMap := hasKey .app.runtime "runtimeConfigMap" -}}
  {{- $withJar := not .app.bySpark -}}
  {{- $_ := set $values "install" (and $withJar (not (or $byKubelet $inConfigMap))) -}}
  {{- $_ := set $values "withoutInstall" (and $withJar (or $byKubelet $inConfigMap)) -}}
  {{- $_ := set $values "mountsRuntimeImage" (and $withJar $byKubelet (not $inConfigMap)) -}}
  {{- $_ := set $values "mountsJar" (and $withJar $inConfigMap) -}}
  {{- with concat .app.pythonPath .app.imageModules.path -}}
    {{- $given := "" -}}
    {{- if eq $.role.name "executor" -}}{{- $given = get $.app.properties "spark.executorEnv.PYTHONPATH" -}}{{- end -}}
    {{- range $item := $.role.spec.env -}}
      {{- if eq $item.name $c.ENV_PYTHON_PATH -}}{{- $given = $item.value | default "" -}}{{- end -}}
    {{- end -}}
    {{- $_ := set $values "pythonPath" (without (append . $given) "" | join ":") -}}
  {{- end -}}
  {{- $_ := set . "delivery" $values -}}
{{- end -}}
