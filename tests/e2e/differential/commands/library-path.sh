# Folders of native libraries for driver and executors.
# versions: 4
spark-submit @COMMON@ \
  --driver-library-path /opt/native \
  --conf spark.executor.extraLibraryPath=/opt/native:/opt/more \
  local:///opt/probe/probe.py
