"""Asks for another executor than the one that was reviewed."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.executor.memory", "3g").getOrCreate()
print("must not come so far:", spark.range(10).count(), flush=True)
