# Events are logged to a folder of the driver.
# versions: 4
spark-submit @COMMON@ \
  --conf spark.eventLog.enabled=true --conf spark.eventLog.dir=file:///tmp \
  local:///opt/probe/probe.py
