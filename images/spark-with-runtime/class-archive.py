"""An application that uses a little of everything: class-archive.sh records the classes that it loads."""

import sys

from pyspark.sql import SparkSession, functions

folder = sys.argv[1]
spark = SparkSession.builder.appName("class-archive").getOrCreate()

numbers = spark.sparkContext.parallelize(range(1000), 2)
if numbers.map(lambda number: number * 2).reduce(lambda one, other: one + other) != 999_000:
    sys.exit("the sum is wrong")

twice = functions.udf(lambda number: number * 2, "long")
table = spark.range(0, 1000, 1, 2).withColumn("key", functions.col("id") % 10)
table = table.withColumn("twice", twice("id"))
table.write.partitionBy("key").parquet(f"{folder}/table")
table.limit(10).write.csv(f"{folder}/lines", header=True)
spark.read.csv(f"{folder}/lines", header=True, inferSchema=True).createOrReplaceTempView("names")
spark.read.parquet(f"{folder}/table").createOrReplaceTempView("numbers")
found = spark.sql(
    "SELECT key, sum(numbers.twice) AS total, count(DISTINCT numbers.id) AS many FROM numbers "
    "LEFT JOIN names USING (key) WHERE key < 5 GROUP BY key ORDER BY total DESC"
).collect()
if len(found) != 5:
    sys.exit(f"expected the 5 keys below 5, found: {found}")
spark.stop()
