# The application's name and id by properties.
# versions: 4
spark-submit @COMMON@ \
  --conf spark.app.name="a name" --conf spark.app.id=probe-id \
  local:///opt/probe/probe.py
