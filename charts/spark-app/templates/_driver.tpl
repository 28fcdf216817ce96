{{- /* The driver's pod (sparkgen/resources/driver.py). */ -}}

{{- /* The values of the driver's layers. In: app, role. In, out: values. */ -}}
{{- define "sparkgen.driver.values" -}}
  {{- $c := .app.c -}}
  {{- $arguments := ternary $c.DRIVER_ARGUMENTS_OF_SPARK $c.DRIVER_ARGUMENTS .app.bySpark -}}
  {{- with ternary "" .app.spec.proxyUser .app.actsFor -}}
    {{- $arguments = append (append $arguments "--proxy-user") . -}}
    {{- $_ := set $.values "sparkUser" . -}}
  {{- end -}}
  {{- with .app.spec.mainClass -}}{{- $arguments = append (append $arguments "--class") . -}}{{- end -}}
  {{- with .app.spec.mainApplicationFile -}}{{- $arguments = append $arguments . -}}{{- end -}}
  {{- with .app.logClaim -}}{{- $_ := set $.values "claim" . -}}{{- end -}}
  {{- with .app.login -}}{{- $_ := set $.values "login" . -}}{{- end -}}
  {{- with dig "connect" "token" dict .app -}}{{- $_ := set $.values "connectToken" . -}}{{- end -}}
  {{- if hasKey .app "notebook" -}}
    {{- $call := dict "app" .app -}}
    {{- template "sparkgen.notebook" $call -}}
    {{- $_ := set $.values "notebook" $call.notebook -}}
  {{- end -}}
  {{- range $name, $value := dict
      "showsPages" (include "sparkgen.showsPages" .app.properties)
      "connect" (hasKey .app "connect")
      "scalaVersion" .app.scalaVersion
      "serviceSecret" (ternary (dig "shuffle" "secretName" "" .app) "" (dig "shuffle" "onNode" false .app))
      "sparkArguments" (concat $arguments (.app.spec.arguments | default list))
      "restart" (ternary "Always" "Never" (eq .app.restart "Always")) -}}
    {{- $_ := set $.values $name $value -}}
  {{- end -}}
{{- end -}}
