# Labels, annotations and a node selector, of driver and executors.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driver.label.team=data \
  --conf spark.kubernetes.executor.label.team=data \
  --conf spark.kubernetes.driver.annotation.example.com/owner="a team" \
  --conf spark.kubernetes.executor.annotation.example.com/owner="a team" \
  --conf spark.kubernetes.node.selector.kubernetes.io/os=linux \
  local:///opt/probe/probe.py
