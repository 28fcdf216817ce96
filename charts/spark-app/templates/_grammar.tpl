{{- /*
Why a text is outside a grammar of sparkgen/grammar, in the generator's words; nothing when it is inside. Dot: the text,
or what the comment says.
*/ -}}

{{- /* Dot: (list text tables). */ -}}
{{- define "sparkgen.reason.memory" -}}
  {{- $units := (index . 1).bytes -}}
  {{- $text := index . 0 -}}
  {{- $lower := $text | replace "\u0130" "?" | lower | include "sparkgen.trimmed" -}}
  {{- $blanks := include "sparkgen.blanks" . -}}
  {{- $unit := regexFind "[a-z]*$" $lower -}}
  {{- $short := $unit | trimSuffix "b" | trimSuffix "i" | default (ternary "b" "" (eq $unit "b")) -}}
  {{- if and (regexMatch "^[0-9]+[a-z]*$" $lower) (hasKey $units ($unit | default "b")) -}}
    {{- $size := get $units ($unit | default "b") | int64 -}}
    {{- $digits := regexReplaceAllLiteral "^0+" (regexFind "^[0-9]+" $lower) "" | default "0" -}}
    {{- if or (gt (len $digits) 19) (and (eq (len $digits) 19) (gt $digits "9223372036854775807")) -}}
      is larger than Spark can count
    {{- else if gt (atoi $digits | int64) (div 9223372036854775807 $size) -}}
      is larger than Spark can count
    {{- end -}}
  {{- else if not $lower -}}is empty
  {{- else if not (regexMatch (printf "^[+-]?[0-9]+(\\.[0-9]*)?(?:%s)?[a-z]*$" $blanks) $lower) -}}is not a number with a unit
  {{- else if hasPrefix "-" $lower -}}is negative
  {{- else if and $unit (not (hasKey $units $short)) -}}has the unit "{{ $unit }}", which Spark does not know
  {{- else if contains "." $lower -}}has a fraction, which Spark refuses
  {{- else if hasPrefix "+" $lower -}}has a sign
  {{- else if regexMatch (printf "[0-9]%s[a-z]*$" $blanks) $lower -}}has a blank before the unit
  {{- else -}}
    has the unit "{{ include "sparkgen.trimmed" $text | regexFind "[A-Za-z]+$" }}", which is Kubernetes' way; Spark writes "{{ $short }}"
  {{- end -}}
{{- end -}}

{{- /* Dot: (list text tables). */ -}}
{{- define "sparkgen.reason.duration" -}}
  {{- $units := (index . 1).microseconds -}}
  {{- $lower := index . 0 | replace "\u0130" "?" | lower | include "sparkgen.trimmed" -}}
  {{- $blanks := include "sparkgen.blanks" . -}}
  {{- $unit := regexFind "[a-z]*$" $lower -}}
  {{- $meant := get (index . 1).meantDurations $unit | default $unit -}}
  {{- if and (regexMatch "^-?[0-9]+[a-z]*$" $lower) (hasKey $units ($unit | default "us")) -}}
    {{- $digits := regexReplaceAllLiteral "^0+" (regexFind "[0-9]+" $lower) "" | default "0" -}}
    {{- if or (gt (len $digits) 19) (and (eq (len $digits) 19) (gt $digits "9223372036854775807")) -}}
      is larger than Spark can count
    {{- end -}}
  {{- else if not $lower -}}is empty
  {{- else if not (regexMatch (printf "^[0-9]+(\\.[0-9]*)?(?:%s)?[a-z]*$" $blanks) $lower) -}}
    {{- if regexMatch "^([0-9]+(d|h|m|s|ms|us))+$" $lower -}}has more than one unit, and Spark reads only one
    {{- else -}}is not a number with a unit
    {{- end -}}
  {{- else if and $unit (not (hasKey $units $meant)) -}}has the unit "{{ $unit }}", which Spark does not know
  {{- else if contains "." $lower -}}has a fraction, which Spark refuses
  {{- else if regexMatch (printf "[0-9]%s[a-z]*$" $blanks) $lower -}}has a blank before the unit
  {{- else -}}has the unit "{{ $unit }}", which Spark does not know
  {{- end -}}
{{- end -}}

{{- /* Dot: (list text tables). */ -}}
{{- define "sparkgen.reason.factor" -}}
  {{- $text := index . 0 -}}
  {{- $trimmed := include "sparkgen.trimmed" $text -}}
  {{- if regexMatch "^\\+?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,2})?$" $trimmed -}}
    {{- if regexMatch "(?s)^.{41}" $text -}}is too long for a factor
    {{- else if not (regexMatch "[1-9]" (regexFind "^[^eE]+" $trimmed)) -}}is zero, and Spark wants a factor above zero
    {{- end -}}
  {{- else if not $trimmed -}}is empty
  {{- else if regexMatch "^[0-9]{1,6}\\s*%$" $trimmed -}}is a percentage
  {{- else if regexMatch "^[0-9]{1,6},[0-9]{1,6}$" $trimmed -}}has a comma for the decimal point
  {{- else if hasPrefix "-" $trimmed -}}is negative, and Spark wants a factor above zero
  {{- else -}}is not a decimal number
  {{- end -}}
{{- end -}}

{{- define "sparkgen.quantityForm" -}}
  ^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$
{{- end -}}

{{- /* Dot: (list text tables). Negative amounts are refused, too: all fields of this grammar count CPU. */ -}}
{{- define "sparkgen.reason.cpu" -}}
  {{- $text := index . 0 -}}
  {{- $exponent := regexFind "[eE][+-]?[0-9]+$" $text | trimAll "eE+-" | regexFind "[1-9][0-9]*$" -}}
  {{- if regexMatch "(?s)^.{65}" $text -}}is too long for a quantity
  {{- else if regexMatch (include "sparkgen.quantityForm" .) $text -}}
    {{- if and $exponent (or (gt (len $exponent) 2) (gt (atoi $exponent) 30)) -}}has an exponent that no resource reaches
    {{- else if and (hasPrefix "-" $text) (regexMatch "[1-9]" (regexFind "^-[0-9.]+" $text)) -}}is negative
    {{- end -}}
  {{- else if not $text -}}is empty
  {{- else if regexMatch "^[0-9]{1,9},[0-9]{1,9}$" $text -}}has a comma for the decimal point
  {{- else if not (regexMatch "^\\s*[0-9]+(\\.[0-9]+)?\\s*[A-Za-z]*\\s*$" $text) -}}is not a number with a suffix
  {{- else -}}
    {{- $unit := regexFind "[A-Za-z]*\\s*$" $text | include "sparkgen.stripped" -}}
    {{- if has $unit (index . 1).quantitySuffixes -}}
      has a blank {{ if regexMatch "[0-9]\\s+[A-Za-z]*\\s*$" $text }}before its suffix{{ else }}around it{{ end }}
    {{- else if has (lower $unit) (list "core" "cores" "cpu" "cpus" "vcpu") -}}
      has the suffix "{{ $unit }}"; a count of cores has none
    {{- else -}}has the suffix "{{ $unit }}", which Kubernetes does not know
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /* Decimal digits times a small number plus a carry, of any length. In: digits, times, carry. Out: digits. */ -}}
{{- define "sparkgen.digits" -}}
  {{- $carry := .carry -}}
  {{- $times := .times -}}
  {{- $result := "" -}}
  {{- range $digit := splitList "" .digits | reverse -}}
    {{- $sum := add (mul (atoi $digit) $times) $carry -}}
    {{- $result = print (mod $sum 10) $result -}}
    {{- $carry = div $sum 10 -}}
  {{- end -}}
  {{- $_ := set . "digits" (regexReplaceAllLiteral "^0+" (print $carry $result) "") -}}
{{- end -}}

{{- /*
A quantity in billionths, rounded away from zero, as digits without leading zeros. In: text. Out: digits, negative,
or error. Exact: a float has too few digits.
*/ -}}
{{- define "sparkgen.quantity" -}}
  {{- $exponential := regexFind "[eE][+-]?[0-9]+$" .text -}}
  {{- if or (include "sparkgen.reason.cpu" (list (trimPrefix "-" .text) (dict "quantitySuffixes" list))) (not (regexMatch (include "sparkgen.quantityForm" .) .text)) -}}
    {{- $_ := set . "error" true -}}
  {{- else -}}
    {{- $number := regexFind "^[+-]?[0-9.]+" .text | trimAll "+-" -}}
    {{- $suffix := trimPrefix (regexFind "^[+-]?[0-9.]+" .text) .text -}}
    {{- $fraction := regexFind "\\.[0-9]*$" $number | trimPrefix "." -}}
    {{- $shift := sub 9 (len $fraction) -}}
    {{- $binary := 0 -}}
    {{- if $exponential -}}
      {{- $exponent := regexFind "[0-9]+$" $exponential | atoi -}}
      {{- $shift = ternary (sub $shift $exponent) (add $shift $exponent) (contains "-" $exponential) -}}
    {{- else if hasSuffix "i" $suffix -}}
      {{- $binary = get (dict "Ki" 1 "Mi" 2 "Gi" 3 "Ti" 4 "Pi" 5 "Ei" 6) $suffix -}}
    {{- else -}}
      {{- $power := get (dict "n" -9 "u" -6 "m" -3 "" 0 "k" 3 "M" 6 "G" 9 "T" 12 "P" 15 "E" 18) $suffix -}}
      {{- $shift = add $shift $power -}}
    {{- end -}}
    {{- $value := dict "digits" (replace "." "" $number) "times" 1024 "carry" 0 -}}
    {{- range until $binary -}}{{- template "sparkgen.digits" $value -}}{{- end -}}
    {{- $digits := $value.digits -}}
    {{- if ge $shift 0 -}}
      {{- $digits = print $digits (repeat (int $shift) "0") -}}
    {{- else -}}
      {{- $cut := sub 0 $shift | int -}}
      {{- $digits = print (repeat $cut "0") $digits -}}
      {{- $rest := substr (sub (len $digits) $cut | int) (len $digits) $digits -}}
      {{- $digits = trunc (sub (len $digits) $cut | int) $digits -}}
      {{- if regexMatch "[1-9]" $rest -}}
        {{- $more := dict "digits" (print "0" $digits) "times" 1 "carry" 1 -}}
        {{- template "sparkgen.digits" $more -}}
        {{- $digits = $more.digits -}}
      {{- end -}}
    {{- end -}}
    {{- $_ := set . "digits" (regexReplaceAllLiteral "^0+" $digits "") -}}
    {{- $_ := set . "negative" (hasPrefix "-" .text) -}}
  {{- end -}}
{{- end -}}

{{- /* "true" when both are quantities and the first is more. Dot: (list first second). */ -}}
{{- define "sparkgen.more" -}}
  {{- $one := dict "text" (index . 0) -}}
  {{- $two := dict "text" (index . 1) -}}
  {{- template "sparkgen.quantity" $one -}}
  {{- template "sparkgen.quantity" $two -}}
  {{- if not (or $one.error $two.error) -}}
    {{- $width := max (len $one.digits) (len $two.digits) | int -}}
    {{- $first := print (repeat (sub $width (len $one.digits) | int) "0") $one.digits -}}
    {{- $second := print (repeat (sub $width (len $two.digits) | int) "0") $two.digits -}}
    {{- if and $one.negative $two.negative -}}{{- if lt $first $second -}}true{{- end -}}
    {{- else if $one.negative -}}
    {{- else if $two.negative -}}{{- if or $one.digits $two.digits -}}true{{- end -}}
    {{- else if gt $first $second -}}true
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- define "sparkgen.reason.timestamp" -}}
  {{- $text := index . 0 -}}
  {{- $date := "[0-9]{4}-[0-9]{2}-[0-9]{2}" -}}
  {{- $form := printf "^%sT[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$" $date -}}
  {{- if regexMatch $form $text -}}
    {{- $year := substr 0 4 $text | atoi -}}
    {{- $month := substr 5 7 $text | atoi -}}
    {{- $day := substr 8 10 $text | atoi -}}
    {{- $leap := or (and (eq (mod $year 4) 0) (ne (mod $year 100) 0)) (eq (mod $year 400) 0) -}}
    {{- $days := 31 -}}
    {{- if has $month (list 4 6 9 11) -}}{{- $days = 30 -}}
    {{- else if eq $month 2 -}}{{- $days = ternary 29 28 $leap -}}
    {{- end -}}
    {{- $zone := regexFind "[+-][0-9]{2}:[0-9]{2}$" $text -}}
    {{- if or (eq $year 0) (lt $month 1) (gt $month 12) (lt $day 1) (gt $day $days) -}}
      is a day that does not exist
    {{- else if or (gt (substr 11 13 $text | atoi) 23) (gt (substr 14 16 $text | atoi) 59) (gt (substr 17 19 $text | atoi) 59) -}}
      has a time of day that does not exist
    {{- else if $zone -}}
      {{- if or (gt (substr 1 3 $zone | atoi) 23) (gt (substr 4 6 $zone | atoi) 59) -}}has a zone that does not exist{{- end -}}
    {{- end -}}
  {{- else if not $text -}}is empty
  {{- else if regexMatch (printf "^%s$" $date) $text -}}has no time of day
  {{- else if regexMatch (printf "^%s[Tt ][0-9:.]{8,}$" $date) $text -}}has no zone
  {{- else if regexMatch (printf "^%s [0-9:.]{8,} ?(Z|[+-][0-9]{2}:[0-9]{2})$" $date) $text -}}has blanks
  {{- else -}}is not written as RFC 3339 writes a moment
  {{- end -}}
{{- end -}}

{{- define "sparkgen.reason.cron" -}}
  {{- $text := index . 0 -}}
  {{- $plain := include "sparkgen.stripped" $text -}}
  {{- $fields := regexSplit (include "sparkgen.blanks" .) $plain -1 -}}
  {{- if contains "TZ" $text -}}names a time zone, which a CronJob refuses inside its schedule
  {{- else if not $plain -}}is empty
  {{- else if hasPrefix "@every " $text -}}
    {{- $duration := trimPrefix "@every " $text -}}
    {{- if not (and (le (len $duration) 40) (regexMatch "^[+-]?(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$" $duration)) -}}
      has no duration of the form "1h30m" after @every
    {{- end -}}
  {{- else if hasPrefix "@" $text -}}
    {{- if not (has $text (index . 1).cronShorthands) -}}is not a known shorthand{{- end -}}
  {{- else if has (len $fields) (list 6 7) -}}
    has {{ len $fields }} fields; a CronJob takes five, without seconds or years
  {{- else if ne (len $fields) 5 -}}
    has {{ len $fields }} field{{ if ne (len $fields) 1 }}s{{ end }}, and a CronJob takes five
  {{- else -}}
    {{- $reason := "" -}}
    {{- range $index, $field := (index . 1).cronFields -}}
      {{- range $expression := splitList "," (index $fields $index) -}}
        {{- if and $expression (not $reason) -}}
          {{- $reason = include "sparkgen.cronRange" (list $expression $field) -}}
        {{- end -}}
      {{- end -}}
    {{- end -}}
    {{- $reason -}}
  {{- end -}}
{{- end -}}

{{- /* Why an expression is no range of a field. Dot: (list expression field). */ -}}
{{- define "sparkgen.cronRange" -}}
  {{- $expression := index . 0 -}}
  {{- $field := index . 1 -}}
  {{- $steps := splitList "/" $expression -}}
  {{- $ends := splitList "-" (first $steps) -}}
  {{- $star := has (first $ends) (list "*" "?") -}}
  {{- $shown := printf "has \"%s\" for the %s, which" $expression $field.name -}}
  {{- $no := "is no number or name of one" -}}
  {{- $bad := list -}}
  {{- $numbers := list -}}
  {{- if not $star -}}
    {{- range $end := $ends -}}
      {{- if hasKey $field.names (lower $end) -}}
        {{- $numbers = append $numbers (get $field.names (lower $end) | int) -}}
      {{- else if regexMatch "^[0-9]{1,9}$" $end -}}
        {{- $numbers = append $numbers (atoi $end) -}}
      {{- else -}}
        {{- $bad = append $bad $end -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if or (gt (len $steps) 2) (gt (len $ends) 2) -}}{{ $shown }} is no range
  {{- else if $bad -}}has "{{ first $bad }}" for the {{ $field.name }}, which {{ $no }}
  {{- else -}}
    {{- $low := int $field.least -}}
    {{- $high := int $field.most -}}
    {{- if not $star -}}
      {{- $low = first $numbers -}}
      {{- $high = last $numbers -}}
      {{- if and (eq (len $ends) 1) (eq (len $steps) 2) -}}{{- $high = int $field.most -}}{{- end -}}
    {{- end -}}
    {{- $step := last $steps -}}
    {{- if and (eq (len $steps) 2) (not (regexMatch "^[0-9]{1,9}$" $step)) -}}{{ $shown }} {{ $no }}
    {{- else if and (eq (len $steps) 2) (eq (atoi $step) 0) -}}has a step of zero in "{{ $expression }}" for the {{ $field.name }}
    {{- else if or (lt $low (int $field.least)) (gt $high (int $field.most)) -}}
      {{ $shown }} runs from {{ $field.least }} to {{ $field.most }}
      {{- if and (eq $field.name "day of week") (eq $high 7) }}; Sunday is 0{{ end -}}
    {{- else if gt $low $high -}}{{ $shown }} runs backwards
    {{- end -}}
  {{- end -}}
{{- end -}}

{{- /*
What the API server refuses for certain. The generator also refuses a slip of the pen ("Europe/Berlni"); that takes a
comparison of texts that Helm's language does not have.
*/ -}}
{{- define "sparkgen.reason.timezone" -}}
  {{- $text := index . 0 -}}
  {{- $areas := (index . 1).timeZones -}}
  {{- $bad := false -}}
  {{- range $part := splitList "/" $text -}}
    {{- if or (has $part (list "." "..")) (not (regexMatch "^[A-Za-z._0-9+][A-Za-z.\\-_0-9+]{0,13}$" $part)) -}}{{- $bad = true -}}{{- end -}}
  {{- end -}}
  {{- $area := first (splitList "/" $text) -}}
  {{- $place := trimPrefix (print $area "/") $text -}}
  {{- if not $text -}}is empty
  {{- else if eq (lower $text) "local" -}}is the controller's own time zone, which Kubernetes refuses to name
  {{- else if $bad -}}is not the name of a time zone
  {{- else if not (contains "/" $text) -}}
    {{- if not (has $text (splitList " " (index $areas ""))) -}}is not a name of the time zone database; it names places{{- end -}}
  {{- else if not (hasKey $areas $area) -}}has the area "{{ $area }}", which the time zone database does not have
  {{- else if not (has $place (splitList " " (get $areas $area))) -}}
    {{- if has (lower $place) (splitList " " (get $areas $area | lower)) -}}is not a time zone that Kubernetes knows{{- end -}}
  {{- end -}}
{{- end -}}
