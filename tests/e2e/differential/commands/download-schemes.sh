# Jars that executors fetch themselves.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe --jars @WEB@/greeter.jar \
  --conf spark.kubernetes.jars.avoidDownloadSchemes=http \
  local:///opt/spark/jars/sparkgen-probe.jar
