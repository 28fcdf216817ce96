# Each attempt of a task ends its executor, until the job fails.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe --conf spark.task.maxFailures=2 \
  local:///opt/spark/jars/sparkgen-probe.jar lose=52
