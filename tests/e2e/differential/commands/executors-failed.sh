# Executors fail until there were too many of them.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe --conf spark.task.maxFailures=8 --conf spark.executor.maxNumFailures=1 \
  local:///opt/spark/jars/sparkgen-probe.jar lose=52
