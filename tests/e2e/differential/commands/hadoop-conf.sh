# Hadoop's properties on the command line.
spark-submit @COMMON@ \
  --conf spark.hadoop.fs.s3a.endpoint=http://s3.example --conf spark.hadoop.probe.key=value \
  local:///opt/probe/probe.py
