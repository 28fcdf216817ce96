# A claim as a volume of driver and executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.volumes.persistentVolumeClaim.data.mount.path=/data \
  --conf spark.kubernetes.driver.volumes.persistentVolumeClaim.data.options.claimName=probe-claim \
  --conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.mount.path=/data \
  --conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.mount.readOnly=true \
  --conf spark.kubernetes.executor.volumes.persistentVolumeClaim.data.options.claimName=probe-claim \
  local:///opt/probe/probe.py
