# Arguments with quotes, blanks, dollars and letters of other alphabets, and an empty one.
spark-submit @COMMON@ \
  local:///opt/probe/probe.py "a 'quoted' word" 'a "quoted" word' '$HOME' '{{x}}' 'größe' '--conf' '' stop
