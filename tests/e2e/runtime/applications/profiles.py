"""A stage that asks for executors of another shape, beside one that does not."""

from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext
print("plain:", context.parallelize(range(10), 2).sum(), flush=True)
executors = ExecutorResourceRequests().cores(1).memory("700m").memoryOverhead("400m")
profile = ResourceProfileBuilder().require(executors).require(TaskResourceRequests().cpus(1)).build
print(
    "other:", context.parallelize(range(20), 2).withResources(profile).map(lambda x: x + 1).sum(), flush=True
)
spark.stop()
