# A program for the JVM.
# versions: 4
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe \
  local:///opt/spark/jars/sparkgen-probe.jar stop
