{{- /* The login to Kerberos that a document names (sparkgen/model/kerberos.py). */ -}}

{{- /* The field of a section `kerberos` that says what the driver logs in with; "" for none. Dot: (list section tables). */ -}}
{{- define "sparkgen.loginField" -}}
  {{- $section := index . 0 -}}
  {{- $fields := list -}}
  {{- range $field := (index . 1).loginFields -}}
    {{- if hasKey $section $field -}}{{- $fields = append $fields $field -}}{{- end -}}
  {{- end -}}
  {{- first $fields | default "" -}}
{{- end -}}

{{- /* Properties that a login means: unless the document says otherwise, and whatever it says. In: spec, tables. Out: defaults, properties. */ -}}
{{- define "sparkgen.loginProperties" -}}
  {{- $defaults := dict -}}
  {{- $properties := dict -}}
  {{- if hasKey .spec "kerberos" -}}
    {{- $section := .spec.kerberos -}}
    {{- $k := .tables.kerberos -}}
    {{- $field := include "sparkgen.loginField" (list $section .tables) -}}
    {{- $user := .spec.proxyUser | default "" -}}
    {{- $short := regexFind "^[^/@]*" ($section.principal | default "") | default $k.anyRenewer -}}
    {{- $actsFor := and (hasKey $section $k.keytab) (ne $user "") -}}
    {{- $defaults = set (omit $k.defaults) (print "spark.hadoop." $k.renewer) (ternary $user $short $actsFor) -}}
    {{- if and (eq $field $k.keytab) (eq $user "") -}}
      {{- $file := printf "%s/%s" .tables.contract.KERBEROS_DIR (index (get $k.logins $field) 1) -}}
      {{- $properties = dict $k.principalProperty ($section.principal | default "") $k.keytabProperty $file -}}
    {{- else if eq $field $k.ticketCache -}}
      {{- $properties = dict $k.credentialsProperty "ccache" -}}
    {{- end -}}
  {{- end -}}
  {{- $_ := set (set . "defaults" $defaults) "properties" $properties -}}
{{- end -}}

{{- /* In, out: app: `hadoop` (what the rendered core-site.xml says), `krb5ConfigMap`, `login`, `actsFor`. */ -}}
{{- define "sparkgen.kerberos" -}}
  {{- $k := .t.kerberos -}}
  {{- $hadoop := ternary dict (.spec.hadoopConf | default dict) (ne .hadoopConfigMap "") -}}
  {{- $section := .spec.kerberos | default dict -}}
  {{- if and $hadoop (hasKey .spec "kerberos") -}}
    {{- $hadoop = merge (omit $hadoop) (dict $k.authentication "kerberos") -}}
  {{- end -}}
  {{- $user := .spec.proxyUser | default "" -}}
  {{- $_ := set . "hadoop" $hadoop -}}
  {{- $_ := set . "krb5ConfigMap" ($section.krb5ConfigMap | default "") -}}
  {{- $_ := set . "actsFor" (and (hasKey $section $k.keytab) (ne $user "")) -}}
  {{- $field := include "sparkgen.loginField" (list $section .t) -}}
  {{- if $field -}}
    {{- $login := get $k.logins $field -}}
    {{- $texts := dict (index $login 0) (printf "%s/%s" .c.KERBEROS_DIR (index $login 1)) -}}
    {{- if and $section.principal (ne $field $k.token) -}}
      {{- $_ := set $texts .c.ENV_KRB5_PRINCIPAL $section.principal -}}
    {{- end -}}
    {{- if and (eq $field $k.keytab) (ne $user "") -}}{{- $_ := set $texts .c.ENV_HADOOP_PROXY_USER $user -}}{{- end -}}
    {{- $env := list -}}
    {{- range $name, $text := $texts -}}{{- $env = append $env (dict "name" $name "value" $text) -}}{{- end -}}
    {{- $given := get $section $field -}}
    {{- $_ := set . "login" (dict "secret" $given.name "key" $given.key "file" (index $login 1) "env" $env) -}}
  {{- end -}}
{{- end -}}
