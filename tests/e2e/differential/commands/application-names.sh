# The application's name and id by properties.
spark-submit @COMMON@ \
  --conf spark.app.name="a name" --conf spark.app.id=probe-id \
  local:///opt/probe/probe.py
