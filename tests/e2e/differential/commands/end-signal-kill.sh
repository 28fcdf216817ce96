# The driver's JVM gets SIGKILL.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar signal=KILL
