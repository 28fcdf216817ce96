# Code has the last word, before the command line, before the file of properties, before the image.
spark-submit @COMMON@ \
  --properties-file app.properties \
  --conf spark.probe.line=line --conf spark.probe.code=line \
  local:///opt/probe/probe.py conf:spark.probe.code=code
