# Environment variables of driver and executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driverEnv.PROBE_WORDS="two words" \
  --conf spark.executorEnv.PROBE_WORDS="two words" \
  --conf spark.executorEnv.PROBE_EMPTY= \
  --conf spark.kubernetes.driverEnv.PROBE_EQUALS=a=b \
  --conf 'spark.executorEnv.PROBE_DOLLAR=$HOME' \
  local:///opt/probe/probe.py
