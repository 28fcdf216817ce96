# Python comes in an archive, by PYSPARK_PYTHON and the working directory.
spark-submit @COMMON@ \
  --archives @WEB@/environment.tar.gz#environment \
  --conf spark.kubernetes.driverEnv.PYSPARK_PYTHON=./environment/bin/python \
  --conf spark.executorEnv.PYSPARK_PYTHON=./environment/bin/python \
  local:///opt/probe/probe.py
