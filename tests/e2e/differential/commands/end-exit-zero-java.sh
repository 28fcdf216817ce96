# The main method ends by System.exit(0), with its context open.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar exit=0
