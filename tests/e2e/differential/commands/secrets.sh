# A Secret as files and as a variable, in driver and executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.secrets.probe-secret=/etc/probe \
  --conf spark.kubernetes.executor.secrets.probe-secret=/etc/probe \
  --conf spark.kubernetes.driver.secretKeyRef.PROBE_SECRET=probe-secret:word \
  --conf spark.kubernetes.executor.secretKeyRef.PROBE_SECRET=probe-secret:word \
  local:///opt/probe/probe.py
