# The main method ends by System.exit.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar exit=3
