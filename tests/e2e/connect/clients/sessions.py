"""Sessions one after the other, each with a query; after each it waits for a line."""

import os
import sys

from pyspark.sql import SparkSession

for number in range(1, int(sys.argv[1]) + 1):
    spark = SparkSession.builder.remote(os.environ["SPARK_REMOTE"]).create()
    assert spark.range(number).count() == number
    spark.stop()
    print("session", number, flush=True)
    sys.stdin.readline()
