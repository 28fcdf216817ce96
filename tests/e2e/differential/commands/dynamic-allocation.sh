# Executors come and go with the work.
spark-submit @COMMON@ \
  --conf spark.dynamicAllocation.enabled=true \
  --conf spark.dynamicAllocation.shuffleTracking.enabled=true \
  --conf spark.dynamicAllocation.minExecutors=0 --conf spark.dynamicAllocation.maxExecutors=2 \
  local:///opt/probe/probe.py
