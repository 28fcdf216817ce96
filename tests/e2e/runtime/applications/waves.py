"""Two waves of work with a pause between them, long enough for every executor to be idle."""

import sys
import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
context = spark.sparkContext
pause = float(sys.argv[1])


def slowly(number: int) -> int:
    """A task of two seconds."""
    time.sleep(2)
    return number


for wave in (1, 2):
    total = context.parallelize(range(9), 9).map(slowly).sum()
    print(f"wave {wave}: {total}", flush=True)
    time.sleep(pause if wave == 1 else 0)
spark.stop()
