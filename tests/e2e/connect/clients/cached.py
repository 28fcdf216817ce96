"""A session that leaves cached data in executors."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
numbers = spark.range(1000).repartition(4).cache()
print("count:", numbers.count())
spark.stop()
