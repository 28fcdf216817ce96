# The driver's JVM gets SIGTERM.
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar signal=TERM
