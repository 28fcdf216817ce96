# Letters of other alphabets in properties and variables.
spark-submit @COMMON@ \
  --conf spark.probe.word=größe --conf spark.executorEnv.PROBE_WORD=größe \
  --conf spark.kubernetes.driverEnv.PROBE_WORD=größe \
  local:///opt/probe/probe.py
