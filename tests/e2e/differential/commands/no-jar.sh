# The main class is in a jar of --jars; there is no main file.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe --jars local:///opt/spark/jars/sparkgen-probe.jar spark-internal
