# A folder of the node, read-only in the executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.volumes.hostPath.node.mount.path=/node \
  --conf spark.kubernetes.driver.volumes.hostPath.node.options.path=/srv \
  --conf spark.kubernetes.executor.volumes.hostPath.node.mount.path=/node \
  --conf spark.kubernetes.executor.volumes.hostPath.node.mount.readOnly=true \
  --conf spark.kubernetes.executor.volumes.hostPath.node.options.path=/srv \
  local:///opt/probe/probe.py
