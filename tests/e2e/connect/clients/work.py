"""A session of Spark Connect, by the address and the token of the environment: a query, and a function."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

spark = SparkSession.builder.getOrCreate()
print("sum:", spark.range(1000).selectExpr("sum(id) AS s").collect()[0].s)
twice = udf(lambda number: 2 * number, "long")
rows = spark.range(5).repartition(2).select(twice("id").alias("n")).collect()
print("twice:", sorted(row.n for row in rows))
if "shuffle" in sys.argv:
    groups = spark.range(100_000).selectExpr("id % 7 AS k").groupBy("k").count().collect()
    print("groups:", len(groups))
spark.stop()
