# Executors' pods stay when they have ended.
spark-submit @COMMON@ \
  --conf spark.kubernetes.executor.deleteOnTermination=false \
  local:///opt/probe/probe.py
