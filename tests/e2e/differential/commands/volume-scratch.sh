# A volume for Spark's scratch space, by its name.
spark-submit @COMMON@ \
  --conf spark.kubernetes.executor.volumes.emptyDir.spark-local-dir-1.mount.path=/scratch \
  --conf spark.kubernetes.driver.volumes.emptyDir.spark-local-dir-1.mount.path=/scratch \
  local:///opt/probe/probe.py
