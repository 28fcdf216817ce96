# Class paths of driver and executors that name jars of the image.
spark-submit @COMMON@ \
  --driver-class-path /opt/probe/greeter.jar \
  --conf spark.executor.extraClassPath=/opt/probe/other.jar:/opt/probe/greeter.jar \
  local:///opt/probe/probe.py
