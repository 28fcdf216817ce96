{{- /*
Rules about volumes, containers, pods and accounts: sparkgen/semantics/rules_{volumes,containers,pods,access}.py. Dot:
facts.
*/ -}}

{{- /* The volumes that a role's pods may have. In: facts, role. Out: volumes, each with path and volume. */ -}}
{{- define "sparkgen.namedVolumes" -}}
  {{- $volumes := list -}}
  {{- range $index, $volume := .facts.spec.volumes -}}
    {{- $volumes = append $volumes (dict "role" "" "volume" $volume
        "path" (concat $.facts.root (list "volumes" $index))) -}}
  {{- end -}}
  {{- range $index, $volume := dig "template" "spec" "volumes" list (get .facts.spec .role | default dict) -}}
    {{- $volumes = append $volumes (dict "role" $.role "volume" $volume
        "path" (concat $.facts.root (list $.role "template" "spec" "volumes" $index))) -}}
  {{- end -}}
  {{- $_ := set . "volumes" $volumes -}}
{{- end -}}

{{- define "sparkgen.rule.SG150" -}}
  {{- $facts := . -}}
  {{- $c := .tables.contract -}}
  {{- range $container := .containers -}}
    {{- $named := dict "facts" $facts "role" $container.role -}}
    {{- template "sparkgen.namedVolumes" $named -}}
    {{- $known := dict -}}
    {{- range $named.volumes -}}{{- $_ := set $known .volume.name true -}}{{- end -}}
    {{- $role := get $facts.spec $container.role -}}
    {{- range $role.secrets -}}
      {{- $_ := set $known (include "sparkgen.volumeName" (list $c.VOLUME_PREFIX "secret" .name)) true -}}
    {{- end -}}
    {{- range $role.configMaps -}}
      {{- $_ := set $known (include "sparkgen.volumeName" (list $c.VOLUME_PREFIX "config" .name)) true -}}
    {{- end -}}
    {{- range $index, $mount := $container.spec.volumeMounts -}}
      {{- if not (or (hasKey $known $mount.name) (has $mount.name $facts.tables.ownVolumes)) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts
            "path" (concat $container.path (list "volumeMounts" $index "name"))
            "message" (printf "the pod of the %s has no volume of this name" $container.role)
            "next" (printf "define the volume in `%s.volumes`, or fix the name" (join "." $facts.root))) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG151" -}}
  {{- $facts := . -}}
  {{- $seen := dict -}}
  {{- $all := list -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $named := dict "facts" $facts "role" $role -}}
    {{- template "sparkgen.namedVolumes" $named -}}
    {{- range $named.volumes -}}
      {{- if or .role (eq $role "driver") -}}{{- $all = append $all . -}}{{- end -}}
    {{- end -}}
  {{- end -}}
  {{- /* The application's own come first: one of the template of the same name is laid below. */ -}}
  {{- range $own := list true false -}}
    {{- range $item := $all -}}
      {{- if eq $own (eq $item.role "") -}}
        {{- $key := printf "%s/%s" $item.role $item.volume.name -}}
        {{- $shared := print "/" $item.volume.name -}}
        {{- $fields := keys $item.volume | sortAlpha | join " " -}}
        {{- $twice := hasKey $seen $key -}}
        {{- if and (not $twice) $item.role (hasKey $seen $shared) -}}
          {{- $twice = ne $fields (get $seen $shared) -}}
        {{- end -}}
        {{- if $twice -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $item.path "name")
              "message" "a volume of this name is defined already" "next" "give it another name, or delete it") -}}
        {{- end -}}
        {{- if not (hasKey $seen $key) -}}{{- $_ := set $seen $key $fields -}}{{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Where a container has mounts. In: container. Out: places, each with path, place and what. */ -}}
{{- define "sparkgen.places" -}}
  {{- $places := list -}}
  {{- $container := .container -}}
  {{- range $index, $mount := $container.spec.volumeMounts -}}
    {{- if $mount.mountPath -}}
      {{- $places = append $places (dict
          "path" (concat $container.path (list "volumeMounts" $index "mountPath")) "place" $mount.mountPath
          "what" (printf "volume `%s`" (include "sparkgen.shortened" $mount.name))) -}}
    {{- end -}}
  {{- end -}}
  {{- if and $container.typed (eq $container.kind "spark") -}}
    {{- range $field, $what := dict "secrets" "Secret" "configMaps" "ConfigMap" -}}
      {{- range $index, $item := get $container.spec $field | default list -}}
        {{- $places = append $places (dict "order" $field
            "path" (concat $container.path (list $field $index "path")) "place" $item.path
            "what" (printf "%s `%s`" $what (include "sparkgen.shortened" $item.name))) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "places" $places -}}
{{- end -}}

{{- define "sparkgen.rule.SG153" -}}
  {{- $facts := . -}}
  {{- range $container := .containers -}}
    {{- $call := dict "container" $container -}}
    {{- template "sparkgen.places" $call -}}
    {{- $taken := dict -}}
    {{- /* Secrets before ConfigMaps, as in the generator: the later of two is the one that is wrong. */ -}}
    {{- range $order := list "" "secrets" "configMaps" -}}
      {{- range $item := $call.places -}}
        {{- if eq $order ($item.order | default "") -}}
          {{- $at := clean (print "/" $item.place) -}}
          {{- if hasKey $taken $at -}}
            {{- template "sparkgen.problem" (dict "facts" $facts "path" $item.path
                "message" (printf "%s is mounted at the same place already" (get $taken $at))
                "next" (printf "mount %s somewhere else" $item.what)) -}}
          {{- else -}}
            {{- $_ := set $taken $at $item.what -}}
          {{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- range $index, $mount := $container.spec.volumeMounts -}}
      {{- $path := concat $container.path (list "volumeMounts" $index) -}}
      {{- range $field := list "subPath" "subPathExpr" -}}
        {{- $text := get $mount $field -}}
        {{- if or (hasPrefix "/" $text) (has ".." (splitList "/" $text)) -}}
          {{- $next := printf "write `%s: %s`" $field (regexReplaceAll "^/+" $text "" | include "sparkgen.shortened") -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path $field)
              "message" "must stay inside the volume, and Kubernetes refuses it"
              "next" (ternary "remove the `..`" $next (contains ".." $text))) -}}
        {{- end -}}
      {{- end -}}
      {{- if and $mount.subPath $mount.subPathExpr -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path "subPathExpr")
            "message" "`subPath` and `subPathExpr` exclude each other" "next" "delete one of them") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG155" -}}
  {{- $facts := . -}}
  {{- $c := .tables.contract -}}
  {{- range $container := .containers -}}
    {{- range $index, $mount := $container.spec.volumeMounts -}}
      {{- if has $mount.name (list $c.TOKEN_VOLUME $c.SESSION_VOLUME) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "next" "delete the mount"
            "path" (concat $container.path (list "volumeMounts" $index "name"))
            "message" "holds the allocator's credentials, which no other container may have") -}}
      {{- end -}}
    {{- end -}}
    {{- $call := dict "container" $container -}}
    {{- template "sparkgen.places" $call -}}
    {{- range $item := $call.places -}}
      {{- if hasPrefix (print $c.ROOT "/") (print (clean (print "/" $item.place)) "/") -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" $item.path
            "message" (printf "everything below %s belongs to sparkgen" $c.ROOT)
            "next" "mount it somewhere else, such as /mnt or /etc") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG160" -}}
  {{- $facts := . -}}
  {{- $c := .tables.contract -}}
  {{- range $container := .containers -}}
    {{- $reserved := list (get $facts.tables.mainContainer $container.role) -}}
    {{- if eq $container.role "driver" -}}
      {{- $reserved = concat $reserved (list $c.INSTALL_CONTAINER $c.ALLOCATOR_CONTAINER) -}}
    {{- else if eq "sidecar" (dig "shuffleService" "mode" "" $facts.spec) -}}
      {{- $reserved = append $reserved $c.SHUFFLE_CONTAINER -}}
    {{- end -}}
    {{- if and (ne $container.kind "spark") (has $container.name $reserved) -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $container.path "name")
          "message" (printf "is the name of a container of the %s's pod" $container.role) "next" "rename it") -}}
    {{- end -}}
  {{- end -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $named := dict "facts" $facts "role" $role -}}
    {{- template "sparkgen.namedVolumes" $named -}}
    {{- range $item := $named.volumes -}}
      {{- if and (hasPrefix $c.VOLUME_PREFIX $item.volume.name) (or (eq $role "driver") (eq $item.role $role)) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $item.path "name")
            "message" "is the name of a volume of sparkgen's own" "next" "rename it") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG161" -}}
  {{- $facts := . -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $seen := dict -}}
    {{- range $container := $facts.containers -}}
      {{- if and (eq $container.role $role) (ne $container.kind "spark") -}}
        {{- if hasKey $seen $container.name -}}
          {{- $first := get $seen $container.name -}}
          {{- if not (and (ne $first.typed $container.typed) (eq $first.kind $container.kind)) -}}
            {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $container.path "name")
                "message" (printf "the %s's pod has another container of this name" $role) "next" "rename one of them") -}}
          {{- end -}}
        {{- else -}}
          {{- $_ := set $seen $container.name $container -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- range $container := .containers -}}
    {{- $spark := eq $container.kind "spark" -}}
    {{- $taken := ternary (get $facts.tables.portNames $container.role) list $spark -}}
    {{- $ports := get $facts.tables.podPorts $container.role -}}
    {{- range $index, $port := $container.spec.ports -}}
      {{- if hasKey $port "name" -}}
        {{- $own := and $spark (hasKey $ports (toRawJson $port.containerPort)) -}}
        {{- $path := concat $container.path (list "ports" $index "name") -}}
        {{- if and (has $port.name $taken) (not $own) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" $path "next" "rename it"
              "message" "another port of the container has this name") -}}
        {{- else if not (and (le (len $port.name) 15) (regexMatch "[a-z]" $port.name) (regexMatch "^[a-z0-9]+(-[a-z0-9]+)*$" $port.name)) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" $path "next" "rename it"
              "message" "Kubernetes refuses this name of a port") -}}
        {{- end -}}
        {{- $taken = append $taken $port.name -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG162" -}}
  {{- $facts := . -}}
  {{- range $container := .containers -}}
    {{- range $index, $port := $container.spec.ports -}}
      {{- $number := toRawJson $port.containerPort -}}
      {{- $user := get (get $facts.tables.podPorts $container.role) $number -}}
      {{- if and $user (or (ne $container.kind "spark") (has $number $facts.tables.allocatorPorts)) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "next" "let it listen on another port"
            "path" (concat $container.path (list "ports" $index "containerPort"))
            "message" (printf "%s listens on this port of the %s's pod" $user $container.role)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG163" -}}
  {{- $facts := . -}}
  {{- $c := .tables.contract -}}
  {{- range $container := .containers -}}
    {{- $executor := eq $container.role "executor" -}}
    {{- range $index, $item := ternary ($container.spec.env | default list) list (eq $container.kind "spark") -}}
      {{- $name := $item.name | default "" -}}
      {{- $set := or (has $name (get $facts.tables.ownVariables $container.role)) (hasPrefix "SPARKGEN_" $name) -}}
      {{- if eq $name $c.ENV_HADOOP_CONF_DIR -}}{{- $set = $facts.spec.hadoopConf -}}
      {{- else if eq $name $c.ENV_CLASSPATH -}}
        {{- $set = and $executor (hasKey $facts.properties "spark.executor.extraClassPath") -}}
      {{- else if and $executor (regexMatch (printf "^%s[0-9]+$" $c.ENV_JAVA_OPT_PREFIX) $name) -}}{{- $set = true -}}
      {{- end -}}
      {{- if $set -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "message" "sparkgen sets this variable itself"
            "path" (concat $container.path (list "env" $index "name"))
            "next" (dig $name "delete it, or rename it" $facts.tables.insteadOfVariable)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG165" -}}
  {{- $facts := . -}}
  {{- range $container := .containers -}}
    {{- range $index, $item := $container.spec.env -}}
      {{- if and (hasKey $item "valueFrom") $item.value -}}
        {{- template "sparkgen.problem" (dict "facts" $facts
            "path" (concat $container.path (list "env" $index "valueFrom"))
            "message" "`value` and `valueFrom` exclude each other" "next" "delete `value`, or `valueFrom`") -}}
      {{- end -}}
    {{- end -}}
    {{- range $index, $item := $container.spec.envFrom -}}
      {{- $both := and (hasKey $item "configMapRef") (hasKey $item "secretRef") -}}
      {{- if or $both (not (or (hasKey $item "configMapRef") (hasKey $item "secretRef"))) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts
            "path" (concat $container.path (list "envFrom" $index))
            "message" (ternary "names both a ConfigMap and a Secret" "names neither a ConfigMap nor a Secret" $both)
            "next" (ternary "write one item for each" "add `configMapRef: {name: ...}` or `secretRef: {name: ...}`" $both)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG166" -}}
  {{- $facts := . -}}
  {{- $inside := dig "driver" "template" "spec" dict .spec -}}
  {{- $reasons := dict
      "shareProcessNamespace" "user code could read the allocator's memory, with its token"
      "hostNetwork" "two drivers on one node would fight for their ports, and the allocator be exposed"
      "hostPID" "user code could see every process of the node, the allocator with its token among them"
      "hostIPC" "user code could reach shared memory of the whole node" -}}
  {{- range $name, $reason := $reasons -}}
    {{- if get $inside $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "next" "delete it"
          "path" (concat $facts.root (list "driver" "template" "spec" $name))
          "message" (printf "is refused for drivers: %s" $reason)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG167" -}}
  {{- $facts := . -}}
  {{- range $container := .containers -}}
    {{- $role := get $facts.spec $container.role -}}
    {{- $typed := $role.podSecurityContext | default dict -}}
    {{- $pod := omit (dig "template" "spec" "securityContext" dict $role) -}}
    {{- range $key, $value := $typed -}}{{- $_ := set $pod $key $value -}}{{- end -}}
    {{- $own := $container.spec.securityContext | default dict -}}
    {{- $user := dig "runAsUser" (dig "runAsUser" "" $pod) $own | toRawJson -}}
    {{- $strict := dig "runAsNonRoot" (dig "runAsNonRoot" true $pod) $own -}}
    {{- $path := list -}}
    {{- if hasKey $own "runAsUser" -}}
      {{- $path = concat $container.path (list "securityContext" "runAsUser") -}}
    {{- else if and $container.typed (eq $container.kind "spark") -}}
      {{- $path = concat $facts.root (list $container.role) (ternary
          (list "podSecurityContext" "runAsUser") (list "template" "spec" "securityContext" "runAsUser")
          (hasKey $typed "runAsUser")) -}}
    {{- end -}}
    {{- if and $path $strict (eq $user "0") -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
          "message" "is root, and `runAsNonRoot` is on unless you turn it off: the container never starts"
          "next" "use the image's own user (185 in the stock image), or set `runAsNonRoot: false` beside it") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG169" -}}
  {{- $facts := . -}}
  {{- range $role := list "driver" "executor" -}}
    {{- $spec := get $facts.spec $role | default dict -}}
    {{- $wanted := $spec.serviceAccount | default (dig "serviceAccount" "name" "" $facts.spec) -}}
    {{- range $field := list "serviceAccountName" "serviceAccount" -}}
      {{- $inside := dig "template" "spec" dict $spec -}}
      {{- if and (hasKey $inside $field) (ne (get $inside $field) $wanted) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts
            "path" (concat $facts.root (list $role "template" "spec" $field))
            "message" "is replaced by the application's own account, so that it would be lost"
            "next" (printf "write `serviceAccount: %s` below `%s:` instead"
              (get $inside $field | include "sparkgen.shortened") $role)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG190" -}}
  {{- $driver := dig "driver" "serviceAccount" "" .spec -}}
  {{- $name := dig "serviceAccount" "name" "" .spec -}}
  {{- if and $driver $name (ne $driver $name) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "serviceAccount" "name"))
        "message" (printf "`driver.serviceAccount` names %s, and the driver has one account" (include "sparkgen.shortened" $driver))
        "next" "delete one of the two") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG192" -}}
  {{- $section := .spec.serviceAccount | default dict -}}
  {{- $existing := dig "driver" "serviceAccount" "" .spec -}}
  {{- $created := ternary $section.create (not $existing) (hasKey $section "create") -}}
  {{- if and $section.annotations (not $created) -}}
    {{- $because := ternary "`create` is false" "`driver.serviceAccount` names another" (hasKey $section "create") -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "serviceAccount" "annotations"))
        "message" (printf "the account is not rendered, because %s: its annotations would be lost" $because)
        "next" "annotate the account where it is defined, or let sparkgen render it with `create: true`") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG193" -}}
  {{- $budget := .spec.podDisruptionBudget | default dict -}}
  {{- if and (hasKey $budget "minAvailable") (hasKey $budget "maxUnavailable") -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "podDisruptionBudget" "maxUnavailable"))
        "message" "`minAvailable` and `maxUnavailable` exclude each other"
        "next" "delete `maxUnavailable`: one driver runs, and `minAvailable: 1` keeps it") -}}
  {{- end -}}
{{- end -}}
