# The driver's JVM gets SIGKILL.
# versions: 4
spark-submit @COMMON@ --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar signal=KILL
