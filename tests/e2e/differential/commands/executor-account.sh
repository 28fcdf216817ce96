# Executors have an account of their own.
spark-submit @COMMON@ \
  --conf spark.kubernetes.authenticate.executor.serviceAccountName=spark \
  local:///opt/probe/probe.py
