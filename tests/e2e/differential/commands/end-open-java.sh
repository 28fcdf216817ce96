# The main method returns and leaves its context open.
# versions: 4
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar open
