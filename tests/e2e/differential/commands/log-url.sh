# The addresses of executors' logs are made of their attributes.
# versions: 4
spark-submit @COMMON@ \
  --conf "spark.ui.custom.executor.log.url=http://logs/{{APP_ID}}/{{EXECUTOR_ID}}" \
  local:///opt/probe/probe.py
