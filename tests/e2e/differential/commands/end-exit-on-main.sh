# Spark calls System.exit when main returns, though a thread goes on.
spark-submit @COMMON@ --conf spark.submit.callSystemExitOnMainExit=true \
  --class sparkgen.probe.Probe local:///opt/spark/jars/sparkgen-probe.jar thread
