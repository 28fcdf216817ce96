# Properties that refer to others, to variables and to system properties.
spark-submit @COMMON@ \
  --conf spark.probe.one=1 --conf 'spark.probe.two=${spark.probe.one}' \
  --conf 'spark.probe.home=${env:HOME}' --conf 'spark.hadoop.probe.user=${user.name}' \
  local:///opt/probe/probe.py
