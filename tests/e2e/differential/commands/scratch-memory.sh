# Scratch space in memory.
# versions: 4
spark-submit @COMMON@ \
  --conf spark.kubernetes.local.dirs.tmpfs=true \
  local:///opt/probe/probe.py
