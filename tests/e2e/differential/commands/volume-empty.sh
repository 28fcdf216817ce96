# Empty folders as volumes, one of them in memory.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.volumes.emptyDir.work.mount.path=/work \
  --conf spark.kubernetes.executor.volumes.emptyDir.work.mount.path=/work \
  --conf spark.kubernetes.executor.volumes.emptyDir.fast.mount.path=/fast \
  --conf spark.kubernetes.executor.volumes.emptyDir.fast.options.medium=Memory \
  --conf spark.kubernetes.executor.volumes.emptyDir.fast.options.sizeLimit=16Mi \
  local:///opt/probe/probe.py
