{{- /* What the ConfigMaps hold (sparkgen/resources/conf.py). */ -}}

{{- /* The files of the run's ConfigMaps: suffix -> file name -> text; but for the executors', the same for every run. In: app. Out: files. */ -}}
{{- define "sparkgen.files" -}}
  {{- $c := .app.c -}}
  {{- $files := dict "conf" (dict
      $c.LOG4J2_FILE (include "sparkgen.log4j2" .app)
      $c.METRICS_FILE (.app.metrics | default (.app.files.Get "files/metrics.properties"))
      $c.SPARK_DEFAULTS_FILE (include "sparkgen.sparkDefaults" .app)) -}}
  {{- if not .app.bySpark -}}
    {{- $_ := set $files.conf $c.EXECUTOR_SCRIPT_FILE (include "sparkgen.executorScript" .app) -}}
  {{- end -}}
  {{- range $name, $text := .app.confTexts -}}{{- $_ := set $files.conf $name $text -}}{{- end -}}
  {{- if hasKey .app "notebook" -}}
    {{- $_ := set $files.conf $c.NOTEBOOK_SCRIPT_FILE (.app.files.Get "files/notebook.sh") -}}
  {{- end -}}
  {{- if hasKey .app "archive" -}}
    {{- range $name := list $c.LOGGED_SCRIPT_FILE $c.LOG_ARCHIVE_SCRIPT_FILE -}}
      {{- $_ := set $files.conf $name ($.app.files.Get (print "files/" $name)) -}}
    {{- end -}}
  {{- end -}}
  {{- if dig "shuffle" "onNode" false .app -}}
    {{- $_ := set $files.conf $c.SHUFFLE_SCRIPT_FILE (.app.files.Get "files/shuffle.sh") -}}
  {{- end -}}
  {{- if .app.hadoop -}}
    {{- $_ := set $files "hadoop" (dict $c.HADOOP_FILE (include "sparkgen.hadoopXml" .app.hadoop)) -}}
  {{- end -}}
  {{- $_ := set . "files" $files -}}
{{- end -}}

{{- /* The executors' template, as the allocator or Spark reads it. In: app, run. Out: files.executor. */ -}}
{{- define "sparkgen.executorFile" -}}
  {{- $call := dict "app" .app "role" .app.executor "run" .run -}}
  {{- template "sparkgen.pod" $call -}}
  {{- $template := dict "apiVersion" "v1" "kind" "PodTemplate" "template" $call.pod -}}
  {{- if .app.bySpark -}}{{- $template = dict "apiVersion" "v1" "kind" "Pod" | merge (omit $call.pod) -}}{{- end -}}
  {{- $_ := set .files "executor" (dict .app.c.EXECUTOR_TEMPLATE_FILE (include "sparkgen.json" $template)) -}}
{{- end -}}

{{- /*
The document's own files of Spark's configuration folder (sparkgen/model/conffiles.py). In, out: app: `confTexts`,
and `confSources` of a projected volume.
*/ -}}
{{- define "sparkgen.confFiles" -}}
  {{- $texts := dict -}}
  {{- $sources := list -}}
  {{- range $name, $given := .spec.sparkConfFiles -}}
    {{- if kindIs "string" $given -}}{{- $_ := set $texts $name $given -}}
    {{- else -}}
      {{- range $kind := list "configMap" "secret" -}}
        {{- with get $given (print $kind "KeyRef") -}}
          {{- $items := list (dict "key" .key "path" $name) -}}
          {{- $sources = append $sources (dict $kind (dict "name" .name "items" $items)) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set . "confTexts" $texts -}}
  {{- $_ := set . "confSources" $sources -}}
{{- end -}}

{{- /* The driver's properties. Dot: app. Later wins: what sparkgen would like, the document, the contract. */ -}}
{{- define "sparkgen.sparkDefaults" -}}
  {{- $defaults := dict "spark.app.name" .name "spark.authenticate" "true" -}}
  {{- if and .executors.dynamic (not (hasKey . "shuffle")) -}}
    {{- $_ := set $defaults "spark.dynamicAllocation.shuffleTracking.enabled" "true" -}}
  {{- end -}}
  {{- if hasKey .properties "spark.jars.packages" -}}{{- $_ := set $defaults "spark.jars.ivy" .t.ivyDir -}}{{- end -}}
  {{- $redirect := dict "ui" .ui "t" .t -}}
  {{- template "sparkgen.redirectProperties" $redirect -}}
  {{- $asked := dict -}}
  {{- range $name, $text := .properties -}}
    {{- if not (or (has $name (ternary $.t.setBySparkgen $.t.tunable $.bySpark)) (and (hasPrefix "spark.kubernetes." $name) (not (has $name $.t.passedSettings)))) -}}{{- $_ := set $asked $name $text -}}{{- end -}}
  {{- end -}}
  {{- if hasKey $asked "spark.submit.pyFiles" -}}
    {{- $asked = omit $asked "spark.submit.pyFiles" -}}
    {{- with join "," .imageModules.submitted -}}{{- $_ := set $asked "spark.submit.pyFiles" . -}}{{- end -}}
  {{- end -}}
  {{- $backend := dict "app" . "asked" $asked -}}
  {{- include (ternary "sparkgen.propertiesOfSpark" "sparkgen.propertiesOfAllocator" .bySpark) $backend -}}
  {{- $sizes := dict -}}
  {{- range $role := list .driver .executor -}}
    {{- $_ := set $sizes (printf "spark.%s.cores" $role.name) (toString $role.cores) -}}
    {{- $_ := set $sizes (printf "spark.%s.memory" $role.name) (printf "%dm" $role.heap) -}}
    {{- $_ := set $sizes (printf "spark.%s.memoryOverhead" $role.name) (printf "%dm" $role.overhead) -}}
  {{- end -}}
  {{- $all := dict "maps" (list
      (ternary .t.shuffleDefaults dict (dig "shuffle" "onNode" false .)) $defaults $redirect.properties (include "sparkgen.gangProperties" . | fromJson) $backend.asked
      .t.contractProperties (.ownProperties | default dict)
      (dig "shuffle" "properties" dict .) $sizes $backend.properties) -}}
  {{- template "sparkgen.laid" $all -}}
  {{- include "sparkgen.propertyLines" $all.laid -}}
{{- end -}}

{{- /* What the allocator needs. In: app. Out: properties. */ -}}
{{- define "sparkgen.propertiesOfAllocator" -}}
  {{- $app := .app -}}
  {{- $jar := $app.c.SCHEDULER_JAR -}}
  {{- if and (dig "delivery" "byKubelet" false $app) (not (hasKey $app.runtime "runtimeConfigMap")) -}}
    {{- $jar = printf "%s%s/%s%s.jar" $app.c.LIB_DIR $app.c.RUNTIME_JARS $app.c.RUNTIME_JAR_PREFIX $app.scalaVersion -}}
  {{- end -}}
  {{- $classPath := without (list $jar (get $app.properties "spark.driver.extraClassPath")) "" | join ":" -}}
  {{- $_ := set . "properties" (dict
      "spark.master" $app.t.allocatorMaster
      "spark.driver.extraClassPath" $classPath
      "spark.sparkgen.allocation.onMismatch" $app.onMismatch) -}}
{{- end -}}

{{- /* What Spark's own backend needs (sparkgen/resources/spark_backend.py). In: app. In, out: asked. Out: properties. */ -}}
{{- define "sparkgen.propertiesOfSpark" -}}
  {{- $app := .app -}}
  {{- $role := $app.executor -}}
  {{- $main := $app.spec.mainApplicationFile -}}
  {{- $isJar := and (has $app.language (list "Java" "Scala")) (ne $main $app.c.SPARK_INTERNAL) -}}
  {{- $jars := list (get $app.properties "spark.jars") (ternary $main "" $isJar) -}}
  {{- $modules := list -}}
  {{- range $entry := $app.imageModules.submitted -}}
    {{- if and (hasPrefix "local:" $entry) (hasSuffix ".py" $entry) -}}
      {{- $entry = print "file:" (trimPrefix "local:" $entry) -}}
    {{- end -}}
    {{- $modules = append $modules $entry -}}
  {{- end -}}
  {{- $found := dict
      "spark.kubernetes.executor.container.image" $role.image
      "spark.kubernetes.container.image.pullPolicy" $role.imagePullPolicy
      "spark.kubernetes.executor.request.cores" $role.coreRequest
      "spark.kubernetes.executor.limit.cores" $role.coreLimit
      "spark.kubernetes.resource.type" (get $app.t.resourceTypes $app.language)
      "spark.jars" (without $jars "" | join ",")
      "spark.submit.pyFiles" (without $modules "" | join ",") -}}
  {{- range $name := $app.t.sparkPassed -}}{{- $_ := set $found $name (get $app.properties $name) -}}{{- end -}}
  {{- range $spec := list (dig "template" "spec" dict $role.spec) $role.spec -}}
    {{- if hasKey $spec "terminationGracePeriodSeconds" -}}
      {{- $seconds := toRawJson $spec.terminationGracePeriodSeconds -}}
      {{- $_ := set $found "spark.kubernetes.executor.terminationGracePeriodSeconds" (print $seconds "s") -}}
    {{- end -}}
  {{- end -}}
  {{- if not $app.executors.dynamic -}}
    {{- $_ := set $found "spark.executor.instances" (toString $app.executors.instances) -}}
  {{- end -}}
  {{- $properties := omit $app.t.sparkProperties -}}
  {{- range $name, $text := $found -}}{{- with $text -}}{{- $_ := set $properties $name . -}}{{- end -}}{{- end -}}
  {{- $_ := set . "properties" $properties -}}
  {{- $asked := omit .asked -}}
  {{- range $item := $role.spec.env -}}{{- $asked = omit $asked (print "spark.executorEnv." $item.name) -}}{{- end -}}
  {{- if or $app.pythonPath $app.imageModules.path -}}{{- $asked = omit $asked "spark.executorEnv.PYTHONPATH" -}}{{- end -}}
  {{- $_ := set . "asked" $asked -}}
{{- end -}}

{{- /* Logging, with the document's levels. Dot: app. */ -}}
{{- define "sparkgen.log4j2" -}}
  {{- printf "rootLogger.level = %s\n" (lower .logLevel | include "sparkgen.propertyValue") -}}
  {{- .files.Get "files/log4j2.properties" -}}
  {{- if .loggers -}}{{- "\n" -}}{{- end -}}
  {{- $index := 1 -}}
  {{- range $name, $level := .loggers -}}
    {{- printf "logger.l%d.name = %s\n" $index (include "sparkgen.propertyValue" $name) -}}
    {{- printf "logger.l%d.level = %s\n" $index (lower $level | include "sparkgen.propertyValue") -}}
    {{- $index = add1 $index -}}
  {{- end -}}
{{- end -}}

{{- /* core-site.xml. Dot: the properties. */ -}}
{{- define "sparkgen.hadoopXml" -}}
  {{- "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n" -}}
  {{- range $name, $text := . -}}
    {{- printf "  <property>\n    <name>%s</name>\n" (include "sparkgen.xml" $name) -}}
    {{- printf "    <value>%s</value>\n  </property>\n" (include "sparkgen.xml" $text) -}}
  {{- end -}}
  {{- "</configuration>\n" -}}
{{- end -}}

{{- /* All that may change without a new run, as tuning.json. Dot: app. */ -}}
{{- define "sparkgen.tuning" -}}
  {{- $spec := .spec -}}
  {{- $properties := .properties -}}
  {{- $t := .t -}}
  {{- $allocation := dict -}}
  {{- range $name, $property := $t.tuningCounts -}}
    {{- if hasKey $properties $property -}}
      {{- $_ := set $allocation $name (get $properties $property | include "sparkgen.stripped" | atoi) -}}
    {{- end -}}
  {{- end -}}
  {{- $allocation = merge $allocation (pick ($spec.allocation | default dict) "maxUnschedulablePods" "waitForRegistration" "hold" "locality") -}}
  {{- with dig "allocation" "memoryOverheadRecovery" dict $spec -}}
    {{- $recovery := dict -}}
    {{- range $name, $text := . -}}
      {{- $call := dict "text" $text "unit" "m" "tables" $t -}}
      {{- template "sparkgen.mib" $call -}}
      {{- if $call.error -}}{{- fail (printf "the size %s is no size that Spark reads: write it as in 512m" $text) -}}{{- end -}}
      {{- $_ := set $recovery (printf "%sMiB" $name) $call.value -}}
    {{- end -}}
    {{- $_ := set $allocation "memoryOverheadRecovery" $recovery -}}
  {{- end -}}
  {{- $durations := dict -}}
  {{- range $name, $property := $t.tuningDurations -}}
    {{- if hasKey $properties $property -}}{{- $_ := set $durations $name (get $properties $property) -}}{{- end -}}
  {{- end -}}
  {{- range $field := list "pendingTimeout" "poolTimeout" -}}
    {{- with dig "allocation" $field "" $spec -}}{{- $_ := set $durations (print $field "Ms") . -}}{{- end -}}
  {{- end -}}
  {{- range $name, $text := $durations -}}
    {{- $call := dict "text" $text "unit" "ms" "tables" $t -}}
    {{- template "sparkgen.milliseconds" $call -}}
    {{- if $call.error -}}{{- fail (printf "the duration %s is too large for Spark: write a smaller one" $text) -}}{{- end -}}
    {{- $_ := set $allocation $name $call.value -}}
  {{- end -}}
  {{- $run := pick .run "expiresAt" -}}
  {{- with pick (.run.history | default dict) "succeeded" "failed" -}}{{- $_ := set $run "history" . -}}{{- end -}}
  {{- include "sparkgen.json" (dict
      "version" .c.VERSION
      "executors" (ternary .executors.bounds (pick .executors "instances") .executors.dynamic)
      "allocation" $allocation
      "run" $run) -}}
{{- end -}}
