# The driver has another Python than the executors.
spark-submit @COMMON@ \
  --conf spark.pyspark.python=/usr/bin/python3 \
  --conf spark.pyspark.driver.python=/opt/probe/python \
  local:///opt/probe/probe.py
