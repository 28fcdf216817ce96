{{- /*
Rules about Spark's settings and the program: sparkgen/semantics/rules_{executors,settings,program}.py. Dot: facts.
*/ -}}

{{- define "sparkgen.rule.SG111" -}}
  {{- $facts := . -}}
  {{- $prefix := "spark.dynamicAllocation." -}}
  {{- if not (include "sparkgen.on" (list . (print $prefix "enabled") false)) -}}
    {{- if eq "0" (include "sparkgen.count" (list . "spark.executor.instances")) -}}
      {{- template "sparkgen.problemAt" (dict "facts" . "name" "spark.executor.instances"
          "message" "asks for no executors, and Spark refuses that without dynamic allocation"
          "next" "write 1 or more, or set `dynamicAllocation.enabled: true`") -}}
    {{- end -}}
  {{- else -}}
    {{- $least := include "sparkgen.count" (list . (print $prefix "minExecutors")) | default "0" | atoi -}}
    {{- $digits := include "sparkgen.count" (list . (print $prefix "maxExecutors")) -}}
    {{- $most := atoi ($digits | default "0") -}}
    {{- if not $digits -}}
    {{- else if eq $most 0 -}}
      {{- template "sparkgen.problemAt" (dict "facts" . "name" (print $prefix "maxExecutors")
          "message" "permits no executors, and Spark refuses that"
          "next" "write the largest number of executors that may run, or delete it") -}}
    {{- else if gt $least $most -}}
      {{- template "sparkgen.problemAt" (dict "facts" . "name" (print $prefix "maxExecutors")
          "message" (printf "is less than `minExecutors`, which is %d, and Spark refuses that" $least)
          "next" "raise `maxExecutors` or lower `minExecutors`") -}}
    {{- else -}}
      {{- range $name := list (print $prefix "initialExecutors") "spark.executor.instances" -}}
        {{- if gt (include "sparkgen.count" (list $facts $name) | default "0" | atoi) $most -}}
          {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $name
              "message" (printf "starts with more executors than `maxExecutors`, which is %d, and Spark refuses that" $most)
              "next" (printf "lower it to %d, or raise `maxExecutors`" $most)) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG113" -}}
  {{- $tracking := "spark.dynamicAllocation.shuffleTracking.enabled" -}}
  {{- $lost := and (include "sparkgen.on" (list . "spark.dynamicAllocation.enabled" false)) (not (include "sparkgen.on" (list . $tracking true))) -}}
  {{- $decommission := and (include "sparkgen.on" (list . "spark.decommission.enabled" false))
      (include "sparkgen.on" (list . "spark.storage.decommission.shuffleBlocks.enabled" true)) -}}
  {{- $keeps := or (include "sparkgen.on" (list . "spark.shuffle.service.enabled" false)) $decommission
      (hasKey .conf "spark.shuffle.sort.io.plugin.class")
      (not (has (dig "spark.shuffle.manager" "sort" .conf) (list "sort" "tungsten-sort")))
      (include "sparkgen.on" (list . "spark.dynamicAllocation.testing" false)) -}}
  {{- if and $lost (not $keeps) (not (hasKey .spec "shuffleService")) -}}
    {{- template "sparkgen.problemAt" (dict "facts" . "name" $tracking
        "message" "without it nothing keeps shuffle data when an executor goes, and Spark does not start"
        "next" "delete it; or turn on `spark.decommission.enabled`") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG114" -}}
  {{- $facts := . -}}
  {{- if include "sparkgen.on" (list . "spark.dynamicAllocation.enabled" false) -}}
    {{- range $field := list "schedulerBacklogTimeout" "sustainedSchedulerBacklogTimeout" "executorIdleTimeout"
        "cachedExecutorIdleTimeout" "shuffleTracking.timeout" -}}
      {{- $name := print "spark.dynamicAllocation." $field -}}
      {{- $least := ternary 1 0 (hasSuffix "BacklogTimeout" $field) -}}
      {{- if hasKey $facts.properties $name -}}
        {{- $call := dict "text" (get $facts.properties $name) "unit" "s" "tables" $facts.tables -}}
        {{- template "sparkgen.milliseconds" $call -}}
        {{- /* Rounded towards zero: more than -1 s is no negative number of seconds. */ -}}
        {{- if and (not $call.error) (lt (div $call.value 1000) (int64 $least)) -}}
          {{- $allowed := ternary "1s or more" "0s or more" (eq $least 1) -}}
          {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $name
              "message" (ternary "is less than one second, and Spark counts whole seconds here" "is negative" (eq $least 1))
              "next" (printf "write %s" $allowed)) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG115" -}}
  {{- $cpus := include "sparkgen.count" (list . "spark.task.cpus") -}}
  {{- $cores := include "sparkgen.count" (list . "spark.executor.cores") | default "1" | atoi -}}
  {{- if and $cpus $cores (gt (atoi ($cpus | default "0")) $cores) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "sparkConf" "spark.task.cpus"))
        "message" (printf "each task needs %s cores, and an executor has %d: Spark does not start" $cpus $cores)
        "next" (printf "set `executor.cores: %s` or more, or lower it" $cpus)) -}}
  {{- end -}}
{{- end -}}

{{- /* Whether the field that takes a property's place has its value already. In: facts, name, text. Out: said. */ -}}
{{- define "sparkgen.alreadySaid" -}}
  {{- $_ := set . "said" false -}}
  {{- $decided := false -}}
  {{- range $entry := .facts.tables.sameField -}}
    {{- $prefix := hasSuffix "." $entry.name -}}
    {{- if and (not $decided) (ternary (hasPrefix $entry.name $.name) (eq $entry.name $.name) $prefix) -}}
      {{- $decided = true -}}
      {{- $path := ternary (append $entry.path (trimPrefix $entry.name $.name)) $entry.path $prefix -}}
      {{- $call := dict "from" $.facts.spec "path" $path -}}
      {{- template "sparkgen.lookup" $call -}}
      {{- $_ := set $ "said" (and $call.found (eq (toRawJson $call.value) (toRawJson $.text))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG120" -}}
  {{- $facts := . -}}
  {{- range $name, $text := .conf -}}
    {{- if hasPrefix "spark.kubernetes." $name -}}
      {{- $call := dict "facts" $facts "name" $name "text" $text -}}
      {{- template "sparkgen.alreadySaid" $call -}}
      {{- $step := "" -}}
      {{- if or (has $name $facts.tables.readSettings) $call.said -}}
      {{- else if eq $name "spark.kubernetes.namespace" -}}
        {{- if ne $text ($facts.value.metadata.namespace | default "") -}}
          {{- $step = printf "set `metadata.namespace: %s`" (include "sparkgen.shortened" $text) -}}
        {{- end -}}
      {{- else if hasKey $facts.tables.movedSettings $name -}}
        {{- $step = get $facts.tables.movedSettings $name -}}
      {{- else -}}
        {{- $parts := splitList "." $name -}}
        {{- range $count := untilStep (sub (len $parts) 1 | int) 0 -1 -}}
          {{- $prefix := printf "%s." (slice $parts 0 $count | join ".") -}}
          {{- if not $step -}}{{- $step = get $facts.tables.movedSettings $prefix -}}{{- end -}}
        {{- end -}}
      {{- end -}}
      {{- if $step -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "sparkConf" $name))
            "message" "nothing reads it here, so that it would be lost" "next" (printf "%s instead" $step)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG122" -}}
  {{- $facts := . -}}
  {{- range $name, $text := .conf -}}
    {{- $path := concat $facts.root (list "sparkConf" $name) -}}
    {{- $short := include "sparkgen.shortened" $name -}}
    {{- $plain := regexReplaceAll (include "sparkgen.blanks" .) $name "" -}}
    {{- if ne $plain $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path
          "message" "a property's name has no blanks, so that Spark would not find this one"
          "next" (printf "write `%s`" (include "sparkgen.shortened" $plain))) -}}
    {{- else if not (hasPrefix "spark." $name) -}}
      {{- $next := printf "if your code reads it, write `spark.%s` and read that" $short -}}
      {{- if regexMatch "^(fs|dfs|hadoop|hive|parquet|mapreduce|yarn)\\." $name -}}
        {{- $next = printf "move it to `hadoopConf`, or write `spark.hadoop.%s`" $short -}}
      {{- else if hasPrefix "log4j" $name -}}
        {{- $next = "set levels in `logging.level` and `logging.loggers`" -}}
      {{- else if regexMatch "^(executor|driver|sql)\\." $name -}}
        {{- $next = printf "write `spark.%s`" $short -}}
      {{- end -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" $path "next" $next
          "message" "spark-submit drops properties whose name does not start with `spark.`") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG123" -}}
  {{- $facts := . -}}
  {{- range $name, $text := .spec.hadoopConf -}}
    {{- if hasPrefix "spark." $name -}}
      {{- $plain := trimPrefix "spark.hadoop." $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "hadoopConf" $name))
          "message" "Hadoop knows no property of this name, so that it would be ignored"
          "next" (ternary (printf "write `%s`" (include "sparkgen.shortened" $plain)) "move it to `sparkConf`" (ne $plain $name))) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG124" -}}
  {{- $facts := . -}}
  {{- range $role := list "driver" "executor" -}}
    {{- range $kind := list "extraJavaOptions" "defaultJavaOptions" -}}
      {{- $name := printf "spark.%s.%s" $role $kind -}}
      {{- $options := get $facts.properties $name -}}
      {{- with regexFind "(?:^|[\\s\"'])-Xmx\\S*" $options -}}
        {{- $heap := regexFind "-Xmx\\S*" . | include "sparkgen.shortened" -}}
        {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $name
            "message" "sets the size of the heap, and Spark refuses that here"
            "next" (printf "delete %s, and set `memory` of the %s" $heap $role)) -}}
      {{- end -}}
      {{- if and (eq $role "executor") (regexMatch "-Dspark\\S*" $options) -}}
        {{- template "sparkgen.problemAt" (dict "facts" $facts "name" $name
            "message" "sets a property of Spark, and Spark refuses that in the options of executors"
            "next" "move the property to `sparkConf`") -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG125" -}}
  {{- $facts := . -}}
  {{- $conf := .conf -}}
  {{- range $name := list "spark.memory.fraction" "spark.memory.storageFraction" -}}
    {{- if hasKey $conf $name -}}
      {{- $text := get $conf $name | include "sparkgen.stripped" -}}
      {{- $number := and (regexMatch "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$" $text) (float64 $text) -}}
      {{- $zero := regexMatch "^[+-]?[0.]*0[0.]*([eE].*)?$" $text -}}
      {{- if not (or $zero (and $number (gt (float64 $text) 0.0) (le (float64 $text) 1.0))) -}}
        {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "sparkConf" $name))
            "message" "is no share: it must lie between 0 and 1" "next" (printf "write `%s: \"0.6\"`" $name)) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $interval := "spark.executor.heartbeatInterval" -}}
  {{- $timeout := dict "text" (dig "spark.network.timeout" "120s" $conf) "unit" "s" "tables" .tables -}}
  {{- $heartbeat := dict "text" (dig $interval "10s" $conf) "unit" "ms" "tables" .tables -}}
  {{- template "sparkgen.milliseconds" $timeout -}}
  {{- template "sparkgen.milliseconds" $heartbeat -}}
  {{- if not (or $timeout.error $heartbeat.error) -}}
    {{- if le $timeout.value $heartbeat.value -}}
      {{- $at := ternary $interval "spark.network.timeout" (hasKey $conf $interval) -}}
      {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "sparkConf" $at))
          "message" (printf "Spark refuses a heartbeat of %.6g s with a network timeout of %.6g s"
            (divf $heartbeat.value 1000) (divf $timeout.value 1000))
          "next" "lower the heartbeat interval (default: 10s), or raise the network timeout (default: 120s)") -}}
    {{- end -}}
  {{- end -}}
  {{- if not (include "sparkgen.on" (list . "spark.authenticate" true)) -}}
    {{- $encrypts := list -}}
    {{- range $name := list "spark.network.crypto.enabled" "spark.authenticate.enableSaslEncryption" -}}
      {{- if include "sparkgen.on" (list $facts $name false) -}}{{- $encrypts = append $encrypts $name -}}{{- end -}}
    {{- end -}}
    {{- if $encrypts -}}
      {{- template "sparkgen.problem" (dict "facts" . "path" (concat .root (list "sparkConf" "spark.authenticate"))
          "message" (printf "Spark refuses `%s` without authentication" (first $encrypts))
          "next" "delete it: sparkgen turns authentication on") -}}
    {{- end -}}
  {{- end -}}
  {{- range $name := ternary .tables.principals list (hasKey .spec "proxyUser") -}}
    {{- if hasKey $conf $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (concat $facts.root (list "sparkConf" $name))
          "message" "spark-submit refuses a principal beside `proxyUser`"
          "next" "keep one of them: log in as the user itself, or act as it with a login in the image") -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG128" -}}
  {{- $facts := . -}}
  {{- $path := append .root "sparkConfFiles" -}}
  {{- $size := 0 -}}
  {{- range $name, $given := .spec.sparkConfFiles -}}
    {{- if kindIs "string" $given -}}{{- $size = add $size (len $given) -}}{{- end -}}
    {{- with get $facts.tables.ownConfFiles $name -}}
      {{- template "sparkgen.problem" (dict "facts" $facts "path" (append $path $name)
          "message" "sparkgen writes this file itself" "next" .) -}}
    {{- end -}}
  {{- end -}}
  {{- if gt (int64 $size) (int64 .tables.largestConfFiles) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" $path
        "message" (printf "the texts of these files have %d bytes together, and the run's ConfigMap has room for %d"
          (int64 $size) (int64 .tables.largestConfFiles))
        "next" "keep a large file in a ConfigMap of its own, and name it with `configMapKeyRef`; or put it into the image") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG131" -}}
  {{- $file := .spec.mainApplicationFile | default "spark-internal" -}}
  {{- $script := and (has .spec.type (list "Python" "R")) (not (regexMatch "\\.(py|R|r|jar)$" $file)) -}}
  {{- $inside := or (hasPrefix "local:" $file) (eq $file "spark-internal") -}}
  {{- if and $inside (not .spec.mainClass) (not (regexMatch "\\.(py|R|r)$" $file)) (not $script) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "mainApplicationFile")
        "message" "`mainClass` is missing, and spark-submit cannot look for it in this file"
        "next" "add `mainClass`, the class with the `main` method, with its package") -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.rule.SG134" -}}
  {{- $file := .spec.mainApplicationFile | default "spark-internal" -}}
  {{- if and (has .spec.type (list "Python" "R")) (not (regexMatch "\\.(py|R|r|jar)$" $file)) (not .spec.mainClass) -}}
    {{- $python := eq .spec.type "Python" -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (append .root "mainApplicationFile")
        "message" (printf "spark-submit takes it for a jar, because its name does not end in %s" (ternary ".py" ".R" $python))
        "next" (ternary "name the script itself; further modules go to `deps.pyFiles`" "name the script itself" $python)) -}}
  {{- end -}}
{{- end -}}
