# A package, with what it needs, of a repository in the cluster.
spark-submit @COMMON@ \
  --packages org.example:package:1.0 --repositories @WEB@/maven \
  --conf spark.jars.ivy=/tmp/ivy \
  local:///opt/probe/probe.py
