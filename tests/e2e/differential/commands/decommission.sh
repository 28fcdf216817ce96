# Executors are decommissioned before they go.
spark-submit @COMMON@ \
  --conf spark.decommission.enabled=true \
  --conf spark.storage.decommission.enabled=true \
  --conf spark.storage.decommission.shuffleBlocks.enabled=true \
  local:///opt/probe/probe.py
