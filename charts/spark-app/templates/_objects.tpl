{{- /* The Kubernetes objects of an application (sparkgen/resources/objects.py, run.py, history.py). */ -}}

{{- /*
All objects, in the order in which they are applied. In: app. Out: objects, run.

The run is built twice, once with the placeholder for its hash: putting the hash into finished text could
hit a text of the user.
*/ -}}
{{- define "sparkgen.objects" -}}
  {{- $app := .app -}}
  {{- $call := dict "app" $app "run" (printf "%s-%s" $app.name $app.t.runPlaceholder) -}}
  {{- template "sparkgen.files" $call -}}
  {{- template "sparkgen.executorFile" $call -}}
  {{- template "sparkgen.workload" $call -}}
  {{- $spec := $call.workload.spec -}}
  {{- if eq $call.workload.kind "CronJob" -}}{{- $spec = $spec.jobTemplate.spec -}}{{- end -}}
  {{- range $field := $app.t.changeable -}}{{- $spec = omit $spec $field -}}{{- end -}}
  {{- $identity := dict "id" ($app.run.id | default "") "workload" $spec "files" $call.files -}}
  {{- with dig "delivery" "mounted" dict $app -}}{{- $_ := set $identity "mounted" . -}}{{- end -}}
  {{- $_ := set $call "run" (printf "%s-%s" $app.name (include "sparkgen.digest" $identity)) -}}

  {{- template "sparkgen.executorFile" $call -}}
  {{- template "sparkgen.workload" $call -}}
  {{- template "sparkgen.history" $call -}}
  {{- $account := $app.account -}}
  {{- $onNode := dig "shuffle" "onNode" false $app -}}
  {{- $noted := dict "maps" (list $app.annotations $account.annotations) -}}
  {{- template "sparkgen.laid" $noted -}}
  {{- $staging := dict "maps" (list (dict "namespace" $app.namespace) (dig "delivery" "stagingServer" dict $app.spec)) -}}
  {{- template "sparkgen.laid" $staging -}}
  {{- range $key, $value := dict
      "account" $account.name
      "createAccount" $account.create
      "accountAnnotations" $noted.laid
      "rbac" $account.rbac
      "janitor" (and $account.rbac $onNode)
      "shuffle" ($app.shuffle | default dict)
      "registryGc" (and $account.rbac (hasKey ($app.spec.delivery | default dict) "stagingServer"))
      "staging" $staging.laid
      "files" $call.files
      "mounted" (dig "delivery" "mounted" dict $app)
      "tuning" (dict $app.c.TUNING_FILE (include "sparkgen.tuning" $app))
      "policy" (hasKey $app "networkPolicy")
      "peers" (dig "networkPolicy" "ingressFrom" list $app)
      "connectPeers" (dig "connect" "ingressFrom" list $app)
      "connectShared" (and (hasKey $app "connect") (not (hasKey ($app.connect | default dict) "ingressFrom")))
      "workload" $call.workload -}}
    {{- $_ := set $call.values $key $value -}}
  {{- end -}}
  {{- template "sparkgen.podGroups" $call -}}
  {{- if $onNode -}}
    {{- $range := splitList "-" $app.shuffle.hostPorts -}}
    {{- $_ := set $call.values "hostPorts" (list (dict
        "protocol" "TCP" "port" (first $range | atoi) "endPort" (last $range | atoi))) -}}
  {{- end -}}
  {{- if hasKey $app "podDisruptionBudget" -}}
    {{- $least := ternary dict (dict "minAvailable" 1) (hasKey $app.podDisruptionBudget "maxUnavailable") -}}
    {{- $budget := dict "maps" (list $least $app.podDisruptionBudget) -}}
    {{- template "sparkgen.laid" $budget -}}
    {{- $_ := set $call.values "budget" $budget.laid -}}
  {{- end -}}
  {{- if include "sparkgen.showsPages" $app.properties -}}
    {{- $pages := dict "section" "ui" "options" $app.ui "port" $app.c.UI_PORT "values" $call.values "t" $app.t -}}
    {{- template "sparkgen.exposed" $pages -}}
  {{- end -}}
  {{- range $section, $port := dict "connect" $app.c.CONNECT_PORT "notebook" $app.c.NOTEBOOK_PORT -}}
    {{- if hasKey $app $section -}}
      {{- $server := dict "section" $section "options" (get $app $section) "port" $port -}}
      {{- template "sparkgen.exposed" (set (set $server "values" $call.values) "t" $app.t) -}}
    {{- end -}}
  {{- end -}}
  {{- template "sparkgen.made" (set $call "layer" "application") -}}
  {{- $_ := set . "objects" $call.objects -}}
  {{- $_ := set . "run" $call.run -}}
{{- end -}}

{{- /* All objects of a kind of documents, by its layer. In: app, layer, values. Out: objects. */ -}}
{{- define "sparkgen.made" -}}
  {{- $filled := dict "layer" (get .app.t.layers .layer) "values" .values -}}
  {{- template "sparkgen.fill" $filled -}}
  {{- $objects := list -}}
  {{- range $object := $filled.value.objects -}}
    {{- $call := dict "object" $object "app" $.app -}}
    {{- template "sparkgen.forTarget" $call -}}
    {{- $objects = append $objects $call.object -}}
  {{- end -}}
  {{- $_ := set . "objects" $objects -}}
{{- end -}}

{{- /*
What the target needs to be told, by annotations that are in no hash (sparkgen/resources/gitops.py). Flux would take
`${...}` for a variable: where a text has it, its substitution is off. In, out: object. In: app.
*/ -}}
{{- define "sparkgen.forTarget" -}}
  {{- $t := .app.t -}}
  {{- $wanted := dict -}}
  {{- if and (has .object.kind $t.keptKinds) (hasKey .object.metadata.labels .app.c.LABEL_APPLICATION) (ne (get .object.metadata.labels .app.c.LABEL_COMPONENT) .app.c.HISTORY) -}}
    {{- $wanted = omit (get $t.runAnnotations .app.target) -}}
    {{- range $name := $t.artifactNames -}}
      {{- if and (eq $.app.target "argocd") (eq $.object.metadata.name (printf "%s-%s" (get $.object.metadata.labels $.app.c.LABEL_RUN) $name)) -}}
        {{- $_ := set $wanted $t.syncOptions (printf "%s,%s" (get $wanted $t.syncOptions) $t.serverSide) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if eq .object.kind "Job" -}}
    {{- range $key, $text := get $t.jobAnnotations .app.target -}}{{- $_ := set $wanted $key $text -}}{{- end -}}
    {{- if not (hasKey .object.metadata.labels .app.c.LABEL_RUN) -}}
      {{- range $key, $text := get $t.historyAnnotations .app.target -}}{{- $_ := set $wanted $key $text -}}{{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if and (ne .app.target "argocd") (regexMatch "\\$\\{([^\"\\\\]|\\\\.)*\"[],}]" (toRawJson .object)) -}}
    {{- $_ := set $wanted $t.verbatim "disabled" -}}
  {{- end -}}
  {{- if $wanted -}}
    {{- $annotations := omit (.object.metadata.annotations | default dict) -}}
    {{- range $key, $text := $wanted -}}
      {{- $own := get $annotations $key | toString -}}
      {{- if not (hasKey $annotations $key) -}}
        {{- $_ := set $annotations $key $text -}}
      {{- else if has $key $t.listAnnotations -}}
        {{- $names := list -}}
        {{- range $option := splitList "," $own -}}
          {{- $names = append $names (first (splitList "=" (trim $option))) -}}
        {{- end -}}
        {{- range $option := splitList "," $text -}}
          {{- if not (has (first (splitList "=" $option)) $names) -}}
            {{- $own = ternary (printf "%s,%s" $own $option) $option (ne (trim $own) "") -}}
          {{- end -}}
        {{- end -}}
        {{- $_ := set $annotations $key $own -}}
      {{- end -}}
    {{- end -}}
    {{- $metadata := set (omit .object.metadata) "annotations" $annotations -}}
    {{- $_ := set . "object" (set (omit .object) "metadata" $metadata) -}}
  {{- end -}}
{{- end -}}

{{- /* What runs the driver: a CronJob, a Deployment or a Job. In: app, run. Out: workload; values of the run. */ -}}
{{- define "sparkgen.workload" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- $driver := dict "app" $app "role" $app.driver "run" .run -}}
  {{- template "sparkgen.pod" $driver -}}
  {{- template "sparkgen.taskGroups" $driver -}}
  {{- $own := dict $c.LABEL_NAME $app.name $c.LABEL_MANAGED_BY "sparkgen" $c.LABEL_APPLICATION $app.name -}}
  {{- $labels := dict "maps" (list $app.labels $own) -}}
  {{- template "sparkgen.laid" $labels -}}
  {{- $schedule := dict "maps" (list (dict "concurrencyPolicy" "Forbid" "suspend" false) $app.schedule) -}}
  {{- template "sparkgen.laid" $schedule -}}
  {{- $values := dict
      "name" $app.name
      "namespace" $app.namespace
      "bySpark" $app.bySpark
      "byAllocator" (not $app.bySpark)
      "concurrency" $app.concurrency
      "replaces" (eq "Replace" $app.concurrency)
      "run" .run
      "labels" $labels.laid
      "runLabels" (set (omit $labels.laid) $c.LABEL_RUN .run)
      "jobLabels" (set (merge (omit $app.queueLabels) $labels.laid) $c.LABEL_RUN .run)
      "deploymentLabels" (merge (omit $app.queueLabels) $labels.laid)
      "annotations" $app.annotations
      "pod" $driver.pod
      "retries" $app.retries
      "replicas" (ternary 0 1 $app.suspend)
      "schedule" $schedule.laid -}}
  {{- if hasKey $app.spec "activeDeadlineSeconds" -}}
    {{- $_ := set $values "deadline" $app.spec.activeDeadlineSeconds -}}
  {{- end -}}
  {{- if and (hasKey $app.spec "timeToLiveSeconds") (or (hasKey $app "schedule") (eq $app.target "kubectl")) -}}
    {{- $_ := set $values "timeToLive" $app.spec.timeToLiveSeconds -}}
  {{- end -}}
  {{- if $app.suspend -}}{{- $_ := set $values "suspended" true -}}{{- end -}}
  {{- $layer := ternary "deployment" "job" (eq $app.restart "Always") -}}
  {{- if hasKey $app "schedule" -}}{{- $layer = "cron_job" -}}{{- end -}}
  {{- $filled := dict "layer" (get $app.t.layers $layer) "values" $values -}}
  {{- template "sparkgen.fill" $filled -}}
  {{- $_ := set (set . "workload" $filled.value) "values" $values -}}
{{- end -}}

{{- /* The Job that removes ended runs. In: app, run, workload. Out: values.history, where it is one. */ -}}
{{- define "sparkgen.history" -}}
  {{- $app := .app -}}
  {{- $c := $app.c -}}
  {{- with $app.history -}}
    {{- $values := set (omit $app.pods.driver.values) "run" $.run -}}
    {{- $_ := set $values "workload" $.workload.kind -}}
    {{- $_ := set $values "runtimeResources" $app.t.runtimeResources -}}
    {{- range $key, $count := pick . "succeeded" "failed" -}}{{- $_ := set $values $key (toRawJson $count) -}}{{- end -}}
    {{- $filled := dict "layer" $app.t.layers.history_job "values" $values -}}
    {{- template "sparkgen.fill" $filled -}}
    {{- $job := printf "%s-%s-%s" $app.name $c.HISTORY (include "sparkgen.digest" $filled.value) -}}
    {{- $_ := set $.values "history" (dict "job" $job "spec" $filled.value) -}}
    {{- $_ := set $.values "historyLabels" (set (omit $.values.labels) $c.LABEL_COMPONENT $c.HISTORY) -}}
    {{- $_ := set $.values "marksJobs" (eq $app.target "argocd") -}}
  {{- end -}}
{{- end -}}
