# A package without what it needs.
spark-submit @COMMON@ \
  --class sparkgen.probe.Probe \
  --packages org.example:package:1.0 --exclude-packages org.example:needed --repositories @WEB@/maven \
  --conf spark.jars.ivy=/tmp/ivy \
  local:///opt/spark/jars/sparkgen-probe.jar
