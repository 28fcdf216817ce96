# Executors' pods stay when they have ended.
# versions: 4
spark-submit @COMMON@ \
  --conf spark.kubernetes.executor.deleteOnTermination=false \
  local:///opt/probe/probe.py
