# Memory beside the heap: overheads, off-heap memory and the memory of Python.
spark-submit @COMMON@ \
  --conf spark.driver.memoryOverhead=400m \
  --conf spark.executor.memoryOverheadFactor=0.5 \
  --conf spark.memory.offHeap.enabled=true --conf spark.memory.offHeap.size=32m \
  --conf spark.executor.pyspark.memory=256m \
  local:///opt/probe/probe.py
