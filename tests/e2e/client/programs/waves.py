"""A shuffle with executors that come, go when they are idle, and come again."""

import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext


def executors():
    """How many executors Spark knows; the driver counts itself."""
    return context._jsc.sc().getExecutorMemoryStatus().size() - 1


for _ in range(2):
    rows = (
        context.parallelize(range(1000), 8)
        .map(lambda number: (number % 7, 1))
        .reduceByKey(lambda a, b: a + b)
    )
    print(f"groups: {rows.count()}, with executors: {executors() > 0}", flush=True)
    deadline = time.monotonic() + 90
    while executors() and time.monotonic() < deadline:
        time.sleep(0.5)
    print(f"idle: {executors()}", flush=True)
