# Names of properties that Spark still reads.
spark-submit @COMMON@ \
  --conf spark.yarn.executor.memoryOverhead=300 \
  --conf spark.yarn.driver.memoryOverhead=300 \
  --conf spark.kubernetes.memoryOverheadFactor=0.3 \
  local:///opt/probe/probe.py
