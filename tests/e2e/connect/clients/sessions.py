"""Sessions one after the other, each with a query: how many there were."""

import os
import sys

from pyspark.sql import SparkSession

wanted = int(sys.argv[1])
for number in range(1, wanted + 1):
    spark = SparkSession.builder.remote(os.environ["SPARK_REMOTE"]).create()
    assert spark.range(number).count() == number
    spark.stop()
print("sessions:", wanted)
