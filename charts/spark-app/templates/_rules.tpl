{{- /*
The rules that the chart has: those that guard security or names, or that only the chart can check (docs/helm.md). All
others are for `sparkgen validate`. Each is called after its code, with the facts as dot, and says what the generator
says (sparkgen/semantics).
*/ -}}

{{- define "sparkgen.rule.SG155" -}}
  {{- $facts := . -}}
  {{- $c := .tables.contract -}}
  {{- range $container := .containers -}}
    {{- $fields := dict "volumeMounts" "mountPath" -}}
    {{- if and $container.typed (eq $container.kind "spark") -}}
      {{- $fields = set (set $fields "secrets" "path") "configMaps" "path" -}}
    {{- end -}}
    {{- range $field, $key := $fields -}}
      {{- range $index, $item := get $container.spec $field | default list -}}
        {{- $path := concat $container.path (list $field $index) -}}
        {{- if and (eq $field "volumeMounts") (has $item.name (list $c.TOKEN_VOLUME $c.SESSION_VOLUME)) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path "name") "next" "delete the mount"
              "message" "contains the allocator's credentials, which no other container may have") -}}
        {{- end -}}
        {{- $archives := list $c.LOGS_VOLUME $c.LOG_ARCHIVE_VOLUME $c.LOG_ARCHIVE_LOGIN_VOLUME -}}
        {{- if and (eq $field "volumeMounts") (has $item.name $archives) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path "name") "next" "delete the mount"
              "message" "is for the container that archives logs, which runs no other code") -}}
        {{- end -}}
        {{- $place := get $item $key -}}
        {{- if and $place (hasPrefix (print $c.ROOT "/") (print (clean (print "/" $place)) "/")) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path $key)
              "message" (printf "everything below %s is reserved for sparkgen" $c.ROOT)
              "next" "mount it somewhere else, such as /mnt or /etc") -}}
        {{- end -}}
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
      {{- $reserved = concat $reserved $c.DRIVER_HELPERS -}}
    {{- else if eq "sidecar" (dig "shuffleService" "mode" "" $facts.spec) -}}
      {{- $reserved = append $reserved $c.SHUFFLE_CONTAINER -}}
    {{- end -}}
    {{- if dig "logging" "archive" "" $facts.spec -}}
      {{- $reserved = append $reserved $c.LOG_ARCHIVE_CONTAINER -}}
    {{- end -}}
    {{- if eq "fetch" (dig "delivery" "mount" "fetch" $facts.spec) -}}
      {{- range $one := $facts.spec.artifacts -}}
        {{- if not (hasKey $one "contents") -}}{{- $reserved = append $reserved $c.FETCH_CONTAINER -}}{{- end -}}
      {{- end -}}
    {{- end -}}
    {{- if and (ne $container.kind "spark") (has $container.name $reserved) -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $container.path "name")
          "message" (printf "is the name of a container of the %s's pod" $container.role) "next" "rename it") -}}
    {{- end -}}
  {{- end -}}
  {{- range $path := list (list "volumes") (list "driver" "template" "spec" "volumes") (list "executor" "template" "spec" "volumes") -}}
    {{- $call := dict "from" $facts.spec "path" $path -}}
    {{- template "sparkgen.lookup" $call -}}
    {{- range $index, $volume := ternary $call.value list $call.found -}}
      {{- if hasPrefix $c.VOLUME_PREFIX $volume.name -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root $path (list $index "name"))
            "message" "is the name of one of sparkgen's own volumes" "next" "rename it") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG166" -}}
  {{- $facts := . -}}
  {{- $inside := dig "driver" "template" "spec" dict .spec -}}
  {{- range $name, $reason := .tables.sharedPods -}}
    {{- if get $inside $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "next" "delete it"
          "path" (concat $facts.root (list "driver" "template" "spec" $name))
          "message" (printf "is refused for drivers: %s" $reason)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG190" -}}
  {{- $driver := dig "driver" "serviceAccount" "" .spec -}}
  {{- $name := dig "serviceAccount" "name" "" .spec -}}
  {{- if and $driver $name (ne $driver $name) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "serviceAccount" "name"))
        "message" (printf "`driver.serviceAccount` names %s, but the driver has only one account" (include "sparkgen.shortened" $driver))
        "next" "delete one of the two") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG196" -}}
  {{- $facts := . -}}
  {{- $name := .value.metadata.name -}}
  {{- range $suffix := .tables.reservedSuffixes -}}
    {{- if hasSuffix $suffix $name -}}
      {{- $of := trimSuffix $suffix $name | include "sparkgen.shortened" -}}
      {{- $like := printf "ends with `%s`, like the Role that sparkgen renders for an application `%s`" $suffix $of -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (list "metadata" "name")
          "message" (print $like ": one would replace the other")
          "next" (printf "choose a name that does not end with `%s`" $suffix)) -}}
    {{- end -}}
  {{- end -}}
  {{- $account := .spec.serviceAccount | default dict -}}
  {{- $existing := dig "driver" "serviceAccount" "" .spec -}}
  {{- $made := ternary $account.create (not $existing) (hasKey $account "create") -}}
  {{- template "sparkgen.sharedName" (dict "facts" . "account" $account "existing" $existing "made" $made) -}}
  {{- if and $made $existing -}}
    {{- template "sparkgen.renderedAccount" (dict "facts" . "name" $existing
        "path" (concat .root (list "driver" "serviceAccount"))) -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.serviceRule.SG196" -}}
  {{- $account := .spec.serviceAccount | default dict -}}
  {{- $made := ternary $account.create true (hasKey $account "create") -}}
  {{- template "sparkgen.sharedName" (dict "facts" . "account" $account "existing" "" "made" $made) -}}
{{- end -}}

{{- define "sparkgen.historyServerRule.SG196" -}}
  {{- template "sparkgen.serviceRule.SG196" . -}}
  {{- template "sparkgen.serverNamedKubernetes" (dict "facts" . "instead" "spark-history") -}}
{{- end -}}

{{- define "sparkgen.stagingServerRule.SG196" -}}
  {{- template "sparkgen.serviceRule.SG196" . -}}
  {{- template "sparkgen.serverNamedKubernetes" (dict "facts" . "instead" "spark-staging") -}}
{{- end -}}

{{- /* In: facts, instead (a better name). */ -}}
{{- define "sparkgen.serverNamedKubernetes" -}}
  {{- if eq "kubernetes" .facts.value.metadata.name -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (list "metadata" "name")
        "message" (print "is the name of Kubernetes' own Service in the namespace `default`: the server's Service would "
            "take it over")
        "next" (printf "choose another name, such as `%s`" .instead)) -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, account (the section), existing (the driver's own account), made (whether it is rendered). */ -}}
{{- define "sparkgen.sharedName" -}}
  {{- $name := .facts.value.metadata.name -}}
  {{- if and .account.name .made -}}
    {{- template "sparkgen.renderedAccount" (dict "facts" .facts "name" .account.name
        "path" (concat .facts.root (list "serviceAccount" "name"))) -}}
  {{- end -}}
  {{- if and (eq "default" $name) (not .account.name) (not .existing) -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" (list "metadata" "name")
        "message" "would give its permissions to the account `default`, which every pod without its own account uses"
        "next" "choose another name, or set an account in `serviceAccount.name`") -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, name (of an account that is rendered), path (where it stands). */ -}}
{{- define "sparkgen.renderedAccount" -}}
  {{- $whose := ternary "every namespace already has" "" (eq "default" .name) -}}
  {{- $suffix := first .facts.tables.reservedSuffixes -}}
  {{- if hasSuffix $suffix .name -}}
    {{- $of := trimSuffix $suffix .name | include "sparkgen.shortened" -}}
    {{- $whose = printf "sparkgen renders for an application `%s`" $of -}}
  {{- end -}}
  {{- if $whose -}}
    {{- template "sparkgen.problem" (dict "facts" .facts "path" .path
        "message" (printf "is the account that %s: rendering it would take over the existing account" $whose)
        "next" (ternary "choose another account" "choose another account, or add `create: false` to `serviceAccount`"
            (eq "default" .name))) -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG198" -}}
  {{- if and (eq .value.kind .tables.connectKind) (not (hasPrefix "4." .spec.sparkVersion)) -}}
    {{- $facts := . -}}
    {{- $paths := list -}}
    {{- if dig "connect" "token" dict .spec -}}{{- $paths = append $paths (list "spec" "connect" "token") -}}{{- end -}}
    {{- $property := .tables.connectTokenProperty -}}
    {{- if get .conf $property -}}{{- $paths = append $paths (list "spec" "sparkConf" $property) -}}{{- end -}}
    {{- range $container := .containers -}}
      {{- if and (eq $container.role "driver") (eq $container.kind "spark") -}}
        {{- range $index, $item := $container.spec.env -}}
          {{- if eq $item.name $facts.tables.contract.ENV_CONNECT_TOKEN -}}
            {{- $paths = append $paths (concat $container.path (list "env" $index "name")) -}}
          {{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- range $path := $paths -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
          "message" (printf "Spark %s does not support tokens, and would let everyone in" $facts.spec.sparkVersion)
          "next" "use Spark 4; or delete it, and let a proxy authenticate clients") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Local files whose artifact the values do not have. */ -}}
{{- define "sparkgen.rule.SG306" -}}
  {{- $facts := . -}}
  {{- template "sparkgen.localEntries" . -}}
  {{- range $artifact := list "code" "dependencies" -}}
    {{- $what := ternary "jars, archives and packages" "files" (eq $artifact $facts.tables.dependencies) -}}
    {{- $message := printf "the artifact `%s` was not pushed: no pod would get the %s beside the document" $artifact $what -}}
    {{- $known := false -}}
    {{- range $one := $facts.spec.artifacts -}}{{- if eq $one.name $artifact -}}{{- $known = true -}}{{- end -}}{{- end -}}
    {{- with get $facts.localEntries $artifact -}}
      {{- if not $known -}}
        {{- template "sparkgen.unpushed" (dict "facts" $facts "path" (first .).path "message" $message) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Local files that their artifact does not have. */ -}}
{{- define "sparkgen.rule.SG307" -}}
  {{- $facts := . -}}
  {{- template "sparkgen.localEntries" . -}}
  {{- range $artifact := list "code" "dependencies" -}}
    {{- $message := printf "the artifact `%s` was pushed for different entries of the document" $artifact -}}
    {{- $lacking := list -}}
    {{- range $one := $facts.spec.artifacts -}}
      {{- if eq $one.name $artifact -}}
        {{- range $entry := get $facts.localEntries $artifact -}}
          {{- if not (hasKey $one.files $entry.text) -}}{{- $lacking = append $lacking $entry -}}{{- end -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- with $lacking -}}
      {{- template "sparkgen.unpushed" (dict "facts" $facts "path" (first .).path "message" $message) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* In: facts, path, message. Out: facts.problems. */ -}}
{{- define "sparkgen.unpushed" -}}
  {{- $lock := "-f app.yaml -f app.lock.yaml" -}}
  {{- template "sparkgen.problem" (dict "facts" .facts "path" .path "message" .message
      "next" (print "run `sparkgen push`, and pass the lock file that it writes to Helm with another -f: " $lock)) -}}
{{- end -}}

{{- /* Artifact -> its local entries in order, each with path and text. In: facts. Out: facts.localEntries. */ -}}
{{- define "sparkgen.localEntries" -}}
  {{- $facts := . -}}
  {{- $found := dict "code" list "dependencies" list -}}
  {{- $main := .spec.mainApplicationFile | default "" -}}
  {{- if or (hasPrefix "./" $main) (hasPrefix "../" $main) -}}
    {{- $name := index .tables.deliveredMainFile 0 -}}
    {{- $entry := dict "path" (append .root "mainApplicationFile") "text" $main -}}
    {{- $_ := set $found $name (append (get $found $name) $entry) -}}
  {{- end -}}
  {{- $deps := .spec.deps | default dict -}}
  {{- range $field := .tables.deliveredListsInOrder -}}
    {{- $name := index (get $facts.tables.deliveredLists $field) 0 -}}
    {{- range $index, $text := get $deps $field | default list -}}
      {{- if or (hasPrefix "./" $text) (hasPrefix "../" $text) -}}
        {{- $entry := dict "path" (concat $facts.root (list "deps" $field $index)) "text" $text -}}
        {{- $_ := set $found $name (append (get $found $name) $entry) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if hasKey $deps "requirements" -}}
    {{- $entry := dict "path" (concat $facts.root (list "deps" "requirements")) "text" $deps.requirements -}}
    {{- $_ := set $found $facts.tables.dependencies (append (get $found $facts.tables.dependencies) $entry) -}}
  {{- end -}}
  {{- $_ := set . "localEntries" $found -}}
{{- end -}}

{{- define "sparkgen.rule.SG318" -}}
  {{- $facts := . -}}
  {{- $k := .tables.kerberos -}}
  {{- $section := .spec.kerberos | default dict -}}
  {{- if and .spec.proxyUser (hasKey .spec "kerberos") (not (hasKey $section $k.keytab)) -}}
    {{- template "sparkgen.problem" (dict "facts" $facts "path" (append .root "proxyUser")
        "message" "acting as another user requires a keytab"
        "next" "set the gateway's keytab in `kerberos.keytab`, or delete `proxyUser`") -}}
  {{- end -}}
  {{- if hasKey .spec "kerberos" -}}
    {{- range $name := append $k.loginProperties $k.credentialsProperty -}}
      {{- if hasKey $facts.conf $name -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "sparkConf" (get $facts.written $name | default $name)))
            "message" "Spark would log in with this as well, and might act as a user other than that of `kerberos`"
            "next" "delete it: `kerberos` configures the login") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $logsIn := false -}}
  {{- range $name := $k.loginProperties -}}{{- if hasKey $facts.properties $name -}}{{- $logsIn = true -}}{{- end -}}{{- end -}}
  {{- if and $logsIn (not .spec.proxyUser) -}}
    {{- range $container := .containers -}}
      {{- range $index, $item := $container.spec.env -}}
        {{- if and (eq $container.kind "spark") (eq $container.role "driver") (eq $item.name $facts.tables.contract.ENV_HADOOP_PROXY_USER) -}}
          {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $container.path (list "env" $index "name"))
              "message" "Spark logs in as the principal, and would silently act as the principal instead of this user"
              "next" "delete it; set `proxyUser`, and the gateway's keytab in `kerberos.keytab`") -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG324" -}}
  {{- if and .spec.runtimeConfigMap .spec.runtimeImage -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "runtimeConfigMap")
        "message" "`runtimeImage` is set, too, so the pods would not run the program in this ConfigMap"
        "next" "delete `runtimeConfigMap` or `runtimeImage`; in an overlay, set it to null") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.serviceRule.SG324" -}}{{- template "sparkgen.rule.SG324" . -}}{{- end -}}

{{- define "sparkgen.stagingServerRule.SG324" -}}{{- template "sparkgen.rule.SG324" . -}}{{- end -}}
