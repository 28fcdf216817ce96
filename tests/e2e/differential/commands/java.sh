# A program for the JVM.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe \
  local:///opt/spark/jars/sparkgen-probe.jar stop
