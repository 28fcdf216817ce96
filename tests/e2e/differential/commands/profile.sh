# A stage asks for executors of another shape.
spark-submit @COMMON@ \
  --conf spark.dynamicAllocation.enabled=true \
  --conf spark.dynamicAllocation.shuffleTracking.enabled=true \
  --conf spark.dynamicAllocation.maxExecutors=1 \
  local:///opt/probe/probe.py profile:700
