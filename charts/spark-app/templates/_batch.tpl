{{- /* Who decides what may run: the document's word on it (sparkgen/model/batch.py, resources/batch.py, resources/requests.py). */ -}}

{{- /* `batchScheduler` and its options, every default applied. In, out: app (batch, queueLabels). */ -}}
{{- define "sparkgen.batch" -}}
  {{- with .spec.batchScheduler -}}
    {{- $options := $.spec.batchSchedulerOptions | default dict -}}
    {{- $minimum := $.executors.instances | default 0 -}}
    {{- $initial := $minimum -}}
    {{- if $.executors.dynamic -}}
      {{- $minimum = $.executors.bounds.minimum -}}
      {{- $initial = $.executors.bounds.initial -}}
    {{- end -}}
    {{- $gang := $initial -}}
    {{- if eq . "kueue" -}}{{- $gang = 0 -}}{{- else if eq . "kube-scheduler" -}}{{- $gang = $minimum -}}{{- end -}}
    {{- if hasKey $options "minExecutors" -}}{{- $gang = $options.minExecutors -}}{{- end -}}
    {{- $batch := dict "name" . "gang" (int $gang) "initial" (int $initial) -}}
    {{- if eq . "kueue" -}}{{- $_ := set $batch "queue" $.t.defaultQueue -}}{{- end -}}
    {{- with $options.queue -}}{{- $_ := set $batch "queue" . -}}{{- end -}}
    {{- with $options.priorityClassName -}}{{- $_ := set (set $batch "priority" .) "executorPriority" . -}}{{- end -}}
    {{- with $options.executorPriorityClassName -}}{{- $_ := set $batch "executorPriority" . -}}{{- end -}}
    {{- if hasKey $options "resources" -}}{{- $_ := set $batch "resources" $options.resources -}}{{- end -}}
    {{- $_ := set $ "batch" $batch -}}
    {{- if eq . "kueue" -}}
      {{- $labels := dict $.c.LABEL_QUEUE $batch.queue -}}
      {{- with $batch.priority -}}{{- $_ := set $labels $.c.LABEL_QUEUE_PRIORITY . -}}{{- end -}}
      {{- $_ := set $ "queueLabels" $labels -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* The values that the layers of a role's pod have places for. In: app, role. In, out: values. */ -}}
{{- define "sparkgen.batchValues" -}}
  {{- $_ := set (set .values "batch" dict) "queue" dict -}}
  {{- with .app.batch -}}
    {{- $told := dict "volcano" (eq .name "volcano") "yunikorn" (eq .name "yunikorn") -}}
    {{- if has .name (list "volcano" "yunikorn") -}}{{- $_ := set $told "schedulerName" .name -}}{{- end -}}
    {{- $priority := get . (ternary "priority" "executorPriority" (eq $.role.name "driver")) -}}
    {{- if and $priority (has .name (list "yunikorn" "kube-scheduler")) -}}
      {{- $_ := set $told "priority" $priority -}}
    {{- end -}}
    {{- if hasKey . "queue" -}}{{- $_ := set $told "queue" .queue -}}{{- end -}}
    {{- if or .gang (eq $.role.name "driver") -}}
      {{- $_ := set $told "taskGroup" (get $.app.t.taskGroups $.role.name) -}}
    {{- end -}}
    {{- if and .gang (eq .name "kube-scheduler") -}}{{- $_ := set $told "gang" (toString .gang) -}}{{- end -}}
    {{- $_ := set $.values "batch" $told -}}
    {{- if eq .name "kueue" -}}
      {{- $_ := set $.values "queue" (dict "name" .queue) -}}
      {{- with $priority -}}{{- $_ := set $.values.queue "priority" . -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Properties with which Spark waits for the gang of a Kueue. Dot: app. Out, as JSON: properties. */ -}}
{{- define "sparkgen.gangProperties" -}}
  {{- $found := dict -}}
  {{- with .batch -}}
    {{- if and .gang (eq .name "kueue") -}}
      {{- $parts := ternary $.t.gangRatio.parts (div (sub (mul $.t.gangRatio.parts .gang) 1) (max .initial 1)) (ge .gang .initial) -}}
      {{- $whole := div $parts $.t.gangRatio.parts -}}
      {{- $_ := set $found $.t.gangRatio.ratio (printf "%d.%06d" $whole (mod $parts $.t.gangRatio.parts)) -}}
      {{- $_ := set $found $.t.gangRatio.patience $.t.gangRatio.forEver -}}
    {{- end -}}
  {{- end -}}
  {{- toRawJson $found -}}
{{- end -}}

{{- /* The driver's pod with the groups that YuniKorn holds places for. In: app, run. In, out: pod. */ -}}
{{- define "sparkgen.taskGroups" -}}
  {{- if eq "yunikorn" (dig "batch" "name" "" .app) -}}
    {{- $executor := dict "app" .app "role" .app.executor "run" .run -}}
    {{- template "sparkgen.pod" $executor -}}
    {{- $groups := list -}}
    {{- range $role := list "driver" "executor" -}}
      {{- $count := ternary 1 $.app.batch.gang (eq $role "driver") -}}
      {{- $spec := ternary $.pod.spec $executor.pod.spec (eq $role "driver") -}}
      {{- if $count -}}
        {{- $call := dict "spec" $spec "t" $.app.t -}}
        {{- template "sparkgen.requests" $call -}}
        {{- $asked := dict "amounts" $call.amounts -}}
        {{- template "sparkgen.quantities" $asked -}}
        {{- $group := dict "name" (get $.app.t.taskGroups $role) "minMember" $count "minResource" $asked.quantities -}}
        {{- range $field := $.app.t.placement -}}
          {{- with get $spec $field -}}{{- $_ := set $group $field . -}}{{- end -}}
        {{- end -}}
        {{- $groups = append $groups $group -}}
      {{- end -}}
    {{- end -}}
    {{- $annotations := set (omit .pod.metadata.annotations) .app.c.ANNOTATION_TASK_GROUPS (include "sparkgen.canonical" $groups) -}}
    {{- $metadata := set (omit .pod.metadata) "annotations" $annotations -}}
    {{- $_ := set . "pod" (set (omit .pod) "metadata" $metadata) -}}
  {{- end -}}
{{- end -}}

{{- /* What objects of groups need. In: app, run. In, out: values (podGroup, makesPodGroups). */ -}}
{{- define "sparkgen.podGroups" -}}
  {{- $batch := .app.batch | default dict -}}
  {{- $_ := set .values "podGroup" dict -}}
  {{- $_ := set .values "makesPodGroups" (and (eq "kube-scheduler" ($batch.name | default "")) (not (eq 0 $batch.gang))) -}}
  {{- if eq "volcano" ($batch.name | default "") -}}
    {{- $group := dict -}}
    {{- range $field := list "queue" "priority" -}}
      {{- if hasKey $batch $field -}}{{- $_ := set $group $field (get $batch $field) -}}{{- end -}}
    {{- end -}}
    {{- if hasKey $batch "resources" -}}
      {{- $_ := set $group "resources" $batch.resources -}}
    {{- else -}}
      {{- $whole := dict "amounts" dict -}}
      {{- range $role, $count := dict "driver" 1 "executor" $batch.gang -}}
        {{- $made := dict "app" $.app "role" (get $.app $role) "run" $.run -}}
        {{- template "sparkgen.pod" $made -}}
        {{- $call := dict "spec" $made.pod.spec "t" $.app.t -}}
        {{- template "sparkgen.requests" $call -}}
        {{- range $name, $amount := $call.amounts -}}
          {{- template "sparkgen.plus" (dict "amounts" $whole.amounts "name" $name "amount" $amount "times" $count) -}}
        {{- end -}}
      {{- end -}}
      {{- template "sparkgen.quantities" $whole -}}
      {{- $_ := set $group "resources" $whole.quantities -}}
    {{- end -}}
    {{- $_ := set .values "podGroup" $group -}}
  {{- end -}}
{{- end -}}

{{- /* All that a pod requests, in thousandths. In: spec, t. Out: amounts. */ -}}
{{- define "sparkgen.requests" -}}
  {{- $staying := dict -}}
  {{- $most := dict -}}
  {{- range $container := .spec.initContainers -}}
    {{- $call := dict "container" $container "t" $.t "amounts" (omit $staying) -}}
    {{- template "sparkgen.plusContainer" $call -}}
    {{- if eq "Always" ($container.restartPolicy | default "") -}}{{- $staying = $call.amounts -}}{{- end -}}
    {{- range $name, $amount := $call.amounts -}}
      {{- $_ := set $most $name (max $amount (get $most $name | default 0)) -}}
    {{- end -}}
  {{- end -}}
  {{- $running := dict "t" .t "amounts" (omit $staying) -}}
  {{- range $container := .spec.containers -}}
    {{- template "sparkgen.plusContainer" (set $running "container" $container) -}}
  {{- end -}}
  {{- range $name, $amount := $running.amounts -}}
    {{- $_ := set $most $name (max $amount (get $most $name | default 0)) -}}
  {{- end -}}
  {{- range $name, $text := dig "resources" "requests" dict .spec -}}
    {{- $call := dict "text" (toString $text) "t" $.t -}}
    {{- template "sparkgen.thousandths" $call -}}
    {{- $_ := set $most $name $call.value -}}
  {{- end -}}
  {{- range $name, $text := .spec.overhead | default dict -}}
    {{- $call := dict "text" (toString $text) "t" $.t -}}
    {{- template "sparkgen.thousandths" $call -}}
    {{- template "sparkgen.plus" (dict "amounts" $most "name" $name "amount" $call.value "times" 1) -}}
  {{- end -}}
  {{- $_ := set . "amounts" $most -}}
{{- end -}}

{{- /* Amounts and what a container requests. In: container, t. In, out: amounts. */ -}}
{{- define "sparkgen.plusContainer" -}}
  {{- $resources := .container.resources | default dict -}}
  {{- $asked := dict "maps" (list ($resources.limits | default dict) ($resources.requests | default dict)) -}}
  {{- template "sparkgen.laid" $asked -}}
  {{- $amounts := omit .amounts -}}
  {{- range $name, $text := $asked.laid -}}
    {{- $call := dict "text" (toString $text) "t" $.t -}}
    {{- template "sparkgen.thousandths" $call -}}
    {{- template "sparkgen.plus" (dict "amounts" $amounts "name" $name "amount" $call.value "times" 1) -}}
  {{- end -}}
  {{- $_ := set . "amounts" $amounts -}}
{{- end -}}

{{- /* Amounts in thousandths as quantities; none of zero. In: amounts. Out: quantities. */ -}}
{{- define "sparkgen.quantities" -}}
  {{- $quantities := dict -}}
  {{- range $name, $amount := .amounts -}}
    {{- $units := div (add $amount 999) 1000 -}}
    {{- $text := toString $units -}}
    {{- if eq $name "cpu" -}}
      {{- if mod $amount 1000 -}}{{- $text = printf "%dm" $amount -}}{{- end -}}
    {{- else if eq 0 (mod $units 1048576) -}}
      {{- $text = printf "%dMi" (div $units 1048576) -}}
    {{- end -}}
    {{- if $amount -}}{{- $_ := set $quantities $name $text -}}{{- end -}}
  {{- end -}}
  {{- $_ := set . "quantities" $quantities -}}
{{- end -}}

{{- /*
A quantity in thousandths of its unit, rounded up. Exponent and length have limits before anything repeats a digit:
`1e700000000` would be a text of 700 MB. In: text, t. Out: value.
*/ -}}
{{- define "sparkgen.thousandths" -}}
  {{- $number := regexFind "^\\+?[0-9]*\\.?[0-9]*" .text | trimPrefix "+" -}}
  {{- $suffix := .text | trimPrefix "+" | trimPrefix $number -}}
  {{- $exponent := 0 -}}
  {{- if regexMatch "^[eE][+-]?[0-9]+$" $suffix -}}
    {{- if not (regexMatch "^[eE][+-]?0*[0-9]{1,2}$" $suffix) -}}
      {{- fail (printf "the quantity %s has an exponent that is too large: write it without one" (trunc 64 .text)) -}}
    {{- end -}}
    {{- $exponent = trimAll "eE+" $suffix | atoi -}}
    {{- $suffix = "" -}}
  {{- end -}}
  {{- $fraction := "" -}}
  {{- if contains "." $number -}}{{- $fraction = regexReplaceAllLiteral "0+$" (splitList "." $number | last) "" -}}{{- end -}}
  {{- $digits := regexReplaceAllLiteral "^0+" (print (splitList "." $number | first) $fraction) "" | default "0" -}}
  {{- $factor := get .t.thousandths $suffix | default (list 0 1) -}}
  {{- $shift := sub (len $fraction) $exponent | int -}}
  {{- $up := first $factor | int64 -}}
  {{- $down := last $factor | int64 -}}
  {{- if and (ne $digits "0") (lt $shift 0) -}}{{- $digits = print $digits (repeat (sub 0 $shift | int) "0") -}}{{- end -}}
  {{- if or (gt $shift 9) (gt (len $digits) 18) (not $up) -}}{{- template "sparkgen.tooMuch" (printf "the quantity %s" (trunc 64 .text)) -}}{{- end -}}
  {{- if gt (atoi $digits | int64) (div 9000000000000000000 $up) -}}{{- template "sparkgen.tooMuch" (printf "the quantity %s" (trunc 64 .text)) -}}{{- end -}}
  {{- if gt $shift 0 -}}{{- $down = mul $down (print "1" (repeat $shift "0") | atoi) -}}{{- end -}}
  {{- $product := mul (atoi $digits) $up -}}
  {{- $_ := set . "value" (add (div $product $down) (ternary 0 1 (eq 0 (mod $product $down)))) -}}
{{- end -}}

{{- /* Adds an amount, some times. In: name, amount, times. In, out: amounts. */ -}}
{{- define "sparkgen.plus" -}}
  {{- $before := get .amounts .name | default 0 -}}
  {{- if gt (int64 .amount) (div (sub 9000000000000000000 $before) (max 1 .times)) -}}
    {{- template "sparkgen.tooMuch" (printf "the amounts of %s" .name) -}}
  {{- end -}}
  {{- $_ := set .amounts .name (add $before (mul .amount .times)) -}}
{{- end -}}

{{- /* Refuses what 64 bits cannot hold in thousandths. Dot: what it is. */ -}}
{{- define "sparkgen.tooMuch" -}}
  {{- fail (printf "%s cannot be added up: write less than 9P, with fewer digits" .) -}}
{{- end -}}
