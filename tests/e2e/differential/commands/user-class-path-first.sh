# The application's jars come before Spark's.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe \
  --jars @WEB@/greeter.jar \
  --conf spark.driver.userClassPathFirst=true --conf spark.executor.userClassPathFirst=true \
  local:///opt/spark/jars/sparkgen-probe.jar
