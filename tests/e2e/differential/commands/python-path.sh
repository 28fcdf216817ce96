# PYTHONPATH of driver and executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driverEnv.PYTHONPATH=/opt/probe/listed.zip \
  --conf spark.executorEnv.PYTHONPATH=/opt/probe/listed.zip \
  local:///opt/probe/probe.py
