# Spark's scratch space by spark.local.dir.
spark-submit @COMMON@ --conf spark.local.dir=/tmp/scratch local:///opt/probe/probe.py
