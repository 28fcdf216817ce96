# The main class is in no jar.
spark-submit @COMMON@ --class example.Missing local:///opt/spark/jars/sparkgen-probe.jar
