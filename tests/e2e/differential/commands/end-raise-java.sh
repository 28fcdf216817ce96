# The main method ends with an exception.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar raise
