# Settings that the program makes: names, shuffle partitions, and what is too late for it.
spark-submit @COMMON@ \
  local:///opt/probe/probe.py conf:spark.app.name=other conf:spark.sql.shuffle.partitions=3 conf:spark.hadoop.probe.key=v
