{{- /*
The way of a document: values in, objects or problems out. Only application.yaml, uninstall.yaml and the tests call it.

Every template here takes a dictionary, and leaves what it computes in it: text would lose the type of what it says
(docs/design/helm-parity.md). "In" and "Out" name the keys. Steps and rules have the names of the generator's.
*/ -}}

{{- /*
Dot: what Helm gives to a template ($). Out: $.sparkgen, with problems, or else objects, run and app. All templates of
a chart get the same $, so the document is computed once, whichever of them comes first.
*/ -}}
{{- define "sparkgen.document" -}}
  {{- if not (hasKey . "sparkgen") -}}
    {{- $tables := .Files.Get "files/tables.json" | fromJson -}}
    {{- $call := dict "values" .Values "namespace" .Release.Namespace "files" .Files "tables" $tables -}}
    {{- template "sparkgen.examine" $call -}}
    {{- $_ := set . "sparkgen" $call -}}
  {{- end -}}
{{- end -}}

{{- /* In: values, namespace, files, tables. Out: problems; objects when there are none. */ -}}
{{- define "sparkgen.examine" -}}
  {{- $pruned := dict "from" (pick .values "apiVersion" "kind" "metadata" "spec") -}}
  {{- template "sparkgen.pruned" $pruned -}}
  {{- $named := dict "value" $pruned.value "tables" .tables -}}
  {{- template "sparkgen.newNames" $named -}}
  {{- $completed := dict "value" $pruned.value "tables" .tables -}}
  {{- template "sparkgen.asApplication" $completed -}}
  {{- $facts := dict "value" $completed.value "written" $named.written "tables" .tables -}}
  {{- $server := get .tables.serverKinds $pruned.value.kind -}}
  {{- template "sparkgen.facts" $facts -}}
  {{- template "sparkgen.namespace" (set $facts "namespace" .namespace) -}}
  {{- template "sparkgen.rules" (set $facts "server" $server) -}}
  {{- $_ := set . "problems" $facts.problems -}}
  {{- if not $facts.problems -}}
    {{- $call := dict "facts" $facts "namespace" .namespace "files" .files -}}
    {{- if $server -}}{{- include (printf "sparkgen.%s" $server) $call -}}
    {{- else -}}
      {{- template "sparkgen.application" $call -}}
      {{- template "sparkgen.objects" $call -}}
    {{- end -}}
    {{- $_ := set . "objects" $call.objects -}}
    {{- $_ := set . "run" ($call.run | default "") -}}
    {{- $_ := set . "server" $server -}}
    {{- $_ := set . "app" $call.app -}}
  {{- end -}}
{{- end -}}

{{- /*
A copy without the keys whose value is null: `--set spec.x=null` and an overlay's `x:` delete a key, and Helm leaves
that to the chart. In: from. Out: value.
*/ -}}
{{- define "sparkgen.pruned" -}}
  {{- if kindIs "map" .from -}}
    {{- $result := dict -}}
    {{- range $key, $value := .from -}}
      {{- if not (kindIs "invalid" $value) -}}
        {{- $call := dict "from" $value -}}
        {{- template "sparkgen.pruned" $call -}}
        {{- $_ := set $result $key $call.value -}}
      {{- end -}}
    {{- end -}}
    {{- $_ := set . "value" $result -}}
  {{- else if kindIs "slice" .from -}}
    {{- $result := list -}}
    {{- range $value := .from -}}
      {{- $call := dict "from" $value -}}
      {{- template "sparkgen.pruned" $call -}}
      {{- $result = append $result $call.value -}}
    {{- end -}}
    {{- $_ := set . "value" $result -}}
  {{- else -}}
    {{- $_ := set . "value" .from -}}
  {{- end -}}
{{- end -}}

{{- /* Helm puts everything into the release's namespace. In, out: facts. */ -}}
{{- define "sparkgen.namespace" -}}
  {{- $named := .value.metadata.namespace -}}
  {{- if and $named (ne $named .namespace) -}}
    {{- template "sparkgen.problem" (dict "facts" . "path" (list "metadata" "namespace")
        "message" (printf "is %s, but the release goes to %s" $named .namespace)
        "next" (printf "call helm with --namespace %s, or leave one of the two out" $named)) -}}
  {{- end -}}
{{- end -}}

{{- /* What helm prints when it refuses: as `sparkgen validate` has it, without lines. Dot: problems. */ -}}
{{- define "sparkgen.refusal" -}}
the document is refused:
{{- range . }}
  error{{ with .code }}[{{ . }}]{{ end }} {{ .path }}: {{ .message }}
  {{- with .next }}
      next: {{ . }}
  {{- end }}
{{- end }}
`sparkgen validate` shows the lines, and `sparkgen rule CODE` says why.
{{- end -}}
