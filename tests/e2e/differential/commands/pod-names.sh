# Names of pods.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.pod.name=case-named-driver \
  --conf spark.kubernetes.executor.podNamePrefix=case-named \
  local:///opt/probe/probe.py
