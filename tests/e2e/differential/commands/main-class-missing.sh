# The main class is in no jar.
# versions: 4
spark-submit @COMMON@ --class example.Missing local:///opt/spark/jars/sparkgen-probe.jar
