# Scratch space in memory.
spark-submit @COMMON@ \
  --conf spark.kubernetes.local.dirs.tmpfs=true \
  local:///opt/probe/probe.py
