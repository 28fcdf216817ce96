# The time zone by TZ, and by Java's property.
spark-submit @COMMON@ \
  --conf spark.kubernetes.driverEnv.TZ=Asia/Tokyo --conf spark.executorEnv.TZ=Asia/Tokyo \
  --conf spark.executor.extraJavaOptions=-Duser.timezone=Europe/Berlin \
  --conf spark.sql.session.timeZone=UTC \
  local:///opt/probe/probe.py
