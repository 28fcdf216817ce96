# The main method returns, and a thread that is no daemon goes on.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar thread
