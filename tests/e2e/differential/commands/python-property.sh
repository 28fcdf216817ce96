# Python comes in an archive, by spark.pyspark.python.
spark-submit @COMMON@ \
  --archives @WEB@/environment.tar.gz#environment \
  --conf spark.pyspark.python=./environment/bin/python \
  local:///opt/probe/probe.py
