# Driver and executors authenticate each other, and encrypt what they send and store.
spark-submit @COMMON@ \
  --conf spark.authenticate=true --conf spark.network.crypto.enabled=true \
  --conf spark.io.encryption.enabled=true \
  local:///opt/probe/probe.py
