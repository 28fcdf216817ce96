# Spark's scratch space by spark.local.dir.
# versions: 4
spark-submit @COMMON@ --conf spark.local.dir=/tmp/scratch local:///opt/probe/probe.py
