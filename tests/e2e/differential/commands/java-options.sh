# Java options with quotes and blanks.
spark-submit @COMMON@ \
  --driver-java-options "-Dprobe.words='two words' -Dprobe.quoted=\"a b\"" \
  --conf "spark.executor.extraJavaOptions=-Dprobe.words='two words' -Dprobe.plain=x -XX:+UseSerialGC" \
  --conf spark.executor.defaultJavaOptions=-Dprobe.default=d \
  --conf spark.driver.defaultJavaOptions=-Dprobe.default=d \
  local:///opt/probe/probe.py
