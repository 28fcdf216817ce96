{{- /*
Sizes, durations and memory, as sparkgen/grammar and sparkgen/model/sizes.py compute them.

A template returns text, and text loses the type of what it says. So a step takes a dictionary and leaves
its results there: `value`, or `error` when the text is outside the grammar.
*/ -}}

{{- /* A text without the blanks that Java's String.trim takes. */ -}}
{{- define "sparkgen.trimmed" -}}
  {{- regexReplaceAll "^[\\x00-\\x20]+|[\\x00-\\x20]+$" . "" -}}
{{- end -}}

{{- /* What both grammars share. In: text. Out: sign, digits (no leading zeros), unit, or error. */ -}}
{{- define "sparkgen.parts" -}}
  {{- /* Java lowers U+0130 to two characters; Go to a plain "i", which would make a unit of it. */ -}}
  {{- $text := .text | replace "\u0130" "?" | lower | include "sparkgen.trimmed" -}}
  {{- $digits := regexReplaceAllLiteral "^0+" (regexFind "[0-9]+" $text) "" | default "0" -}}
  {{- $_ := set . "sign" (ternary "-" "" (hasPrefix "-" $text)) -}}
  {{- $_ := set . "digits" $digits -}}
  {{- $_ := set . "unit" (regexFind "[a-z]+$" $text) -}}
  {{- $malformed := not (regexMatch "^-?[0-9]+([a-z]+)?$" $text) -}}
  {{- $long := or (gt (len $digits) 19) (and (eq (len $digits) 19) (gt $digits "9223372036854775807")) -}}
  {{- $_ := set . "error" (or $malformed $long) -}}
{{- end -}}

{{- /* grammar.memory.to_mib. In: text, unit (of a number without one), tables. Out: value (MiB) or error. */ -}}
{{- define "sparkgen.mib" -}}
  {{- $parts := dict "text" .text -}}
  {{- template "sparkgen.parts" $parts -}}
  {{- $size := get .tables.bytes ($parts.unit | default .unit | default "m") | int64 -}}
  {{- if or $parts.error $parts.sign (not $size) -}}
    {{- $_ := set . "error" true -}}
  {{- else if gt (atoi $parts.digits | int64) (div 9223372036854775807 $size) -}}
    {{- $_ := set . "error" true -}}
  {{- else if ge $size 1048576 -}}
    {{- $_ := set . "value" (mul (atoi $parts.digits) (div $size 1048576)) -}}
  {{- else -}}
    {{- $_ := set . "value" (div (atoi $parts.digits) (div 1048576 $size)) -}}
  {{- end -}}
{{- end -}}

{{- /* grammar.duration.to_milliseconds. In: text, unit, tables. Out: value (ms) or error. */ -}}
{{- define "sparkgen.milliseconds" -}}
  {{- $parts := dict "text" .text -}}
  {{- template "sparkgen.parts" $parts -}}
  {{- $size := get .tables.microseconds ($parts.unit | default .unit | default "ms") | int64 -}}
  {{- if or $parts.error (not $size) -}}
    {{- $_ := set . "error" true -}}
  {{- else -}}
    {{- $number := atoi $parts.digits | int64 -}}
    {{- if lt $size 1000 -}}
      {{- $number = div $number (div 1000 $size) -}}
    {{- else if gt $number (div 9223372036854775807 (div $size 1000)) -}}
      {{- $number = 9223372036854775807 -}}
    {{- else -}}
      {{- $number = mul $number (div $size 1000) -}}
    {{- end -}}
    {{- $_ := set . "value" (ternary (sub 0 $number) $number (eq $parts.sign "-")) -}}
  {{- end -}}
{{- end -}}

{{- /*
floor(number x factor), exact for every digit of the factor: `mulf` goes through a float, and is one too high
for 0.99999999999999999. So one digit at a time, from the last, because floor(floor(x) / 10) loses nothing.
Six digits before the point always fit: 2^43 MiB, the most that Spark can count, times 999999 is below 2^63.
In: factor (text), number. Out: value or error.
*/ -}}
{{- define "sparkgen.share" -}}
  {{- $text := include "sparkgen.trimmed" .factor -}}
  {{- if not (regexMatch "^\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,2})?$" $text) -}}
    {{- $_ := set . "error" true -}}
  {{- else if gt (len .factor) 40 -}}
    {{- $_ := set . "error" true -}}
  {{- else -}}
    {{- $mantissa := regexFind "^[^eE]+" $text | trimPrefix "+" -}}
    {{- $exponent := regexFind "[eE].+$" $text | trimAll "eE+" | atoi -}}
    {{- $whole := regexFind "^[0-9]*" $mantissa -}}
    {{- $digits := $mantissa | replace "." "" -}}
    {{- $point := add (len $whole) $exponent | int -}}
    {{- $before := repeat (sub 0 $point | max 0 | int) "0" -}}
    {{- $after := repeat (sub $point (len $digits) | max 0 | int) "0" -}}
    {{- $digits = print $before $digits $after -}}
    {{- $point = max 0 $point | int -}}
    {{- $whole = regexReplaceAllLiteral "^0+" (trunc $point $digits) "" | default "0" -}}
    {{- if or (gt (len $whole) 6) (not (regexMatch "[1-9]" $digits)) -}}
      {{- $_ := set . "error" true -}}
    {{- else -}}
      {{- $number := int64 .number -}}
      {{- $rest := 0 -}}
      {{- range $digit := substr $point (len $digits) $digits | splitList "" | reverse -}}
        {{- $rest = div (add (mul $number (atoi $digit)) $rest) 10 -}}
      {{- end -}}
      {{- $_ := set . "value" (add (mul $number (atoi $whole)) $rest) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* One property as MiB. In: name, default, unit, properties, tables. Out: value or error. */ -}}
{{- define "sparkgen.property" -}}
  {{- $_ := set . "text" (ternary (get .properties .name) .default (hasKey .properties .name)) -}}
  {{- template "sparkgen.mib" . -}}
{{- end -}}

{{- /* model.sizes.memory, in MiB. In: role, language, properties, tables. Out: value or error. */ -}}
{{- define "sparkgen.memory" -}}
  {{- $heap := dict "name" (printf "spark.%s.memory" .role) "default" "1g" -}}
  {{- $explicit := dict "name" (printf "spark.%s.memoryOverhead" .role) -}}
  {{- $least := dict "name" (printf "spark.%s.minMemoryOverhead" .role) "default" "384m" -}}
  {{- $offHeap := dict "name" "spark.memory.offHeap.size" "default" "0" "unit" "b" "value" 0 -}}
  {{- $pyspark := dict "name" "spark.executor.pyspark.memory" "default" "0" "value" 0 -}}
  {{- $share := dict -}}
  {{- range $step := list $heap $explicit $least $offHeap $pyspark -}}
    {{- $_ := set $step "properties" $.properties -}}
    {{- $_ := set $step "tables" $.tables -}}
  {{- end -}}
  {{- template "sparkgen.property" $heap -}}
  {{- $overhead := 0 -}}
  {{- if hasKey .properties $explicit.name -}}
    {{- template "sparkgen.property" $explicit -}}
    {{- $overhead = $explicit.value -}}
  {{- else -}}
    {{- $factor := ternary "0.4" "0.1" (has .language (list "Python" "R")) -}}
    {{- range $name := list "spark.kubernetes.memoryOverheadFactor" (printf "spark.%s.memoryOverheadFactor" .role) -}}
      {{- if hasKey $.properties $name -}}{{- $factor = get $.properties $name -}}{{- end -}}
    {{- end -}}
    {{- template "sparkgen.property" $least -}}
    {{- $share = dict "factor" $factor "number" ($heap.value | default 0) -}}
    {{- template "sparkgen.share" $share -}}
    {{- $overhead = max $share.value $least.value -}}
  {{- end -}}
  {{- if eq .role "executor" -}}
    {{- $enabled := get .properties "spark.memory.offHeap.enabled" | include "sparkgen.trimmed" | lower -}}
    {{- if eq $enabled "true" -}}{{- template "sparkgen.property" $offHeap -}}{{- end -}}
    {{- if eq .language "Python" -}}{{- template "sparkgen.property" $pyspark -}}{{- end -}}
  {{- end -}}
  {{- if or $heap.error $explicit.error $least.error $share.error $offHeap.error $pyspark.error -}}
    {{- $_ := set . "error" true -}}
  {{- else -}}
    {{- $value := dict "heap" $heap.value "overhead" $overhead -}}
    {{- $_ := set . "value" (merge $value (dict "offHeap" $offHeap.value "pyspark" $pyspark.value)) -}}
  {{- end -}}
{{- end -}}
