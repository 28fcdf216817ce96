"""Pi, and results of tasks that are too large to come with their end: the driver fetches them."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext


def inside(number):
    """1 for a point of a grid that is in the quarter of a circle, else 0."""
    return 1 if (number // 300) ** 2 + (number % 300) ** 2 < 300**2 else 0


count = context.parallelize(range(90_000), 4).map(inside).sum()
print(f"pi is about {round(4 * count / 90_000, 1)}", flush=True)
large = context.parallelize(range(2), 2).map(lambda number: bytes(3 << 20)).collect()
print(f"fetched {sum(map(len, large)) >> 20} MiB", flush=True)
print(
    f"executed by {context.parallelize([0], 1).map(lambda _: __import__('sys').executable).first()}",
    flush=True,
)
spark.stop()
