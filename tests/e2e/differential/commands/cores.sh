# Limits of CPU, and cores of driver and executors.
spark-submit @COMMON@ \
  --conf spark.driver.cores=1 --executor-cores 2 \
  --conf spark.kubernetes.driver.limit.cores=1 --conf spark.kubernetes.executor.limit.cores=2 \
  --conf spark.task.cpus=2 \
  local:///opt/probe/probe.py
