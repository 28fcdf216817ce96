# HADOOP_USER_NAME names the user of Hadoop.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driverEnv.HADOOP_USER_NAME=alice \
  --conf spark.executorEnv.HADOOP_USER_NAME=alice \
  local:///opt/probe/probe.py
