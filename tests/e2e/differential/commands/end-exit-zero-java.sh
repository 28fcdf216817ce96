# The main method ends by System.exit(0), with its context open.
# versions: 4
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar exit=0
