# Events are logged to a folder of the driver.
spark-submit @COMMON@ \
  --conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file:///tmp \
  local:///opt/probe/probe.py
