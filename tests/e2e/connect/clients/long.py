"""A query of so many tasks, each of a second; what its user is told when it fails, and the next session."""

import sys
import time

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf


def slowly(number: int) -> int:
    """A second's work."""
    time.sleep(1)
    return number


def query(tasks: int) -> None:
    """Shuffle what the tasks make."""
    numbers = SparkSession.builder.getOrCreate().range(0, tasks, 1, tasks)
    groups = numbers.select(udf(slowly, "long")("id").alias("n")).selectExpr("n % 3 AS k", "n").groupBy("k")
    print("sum:", sum(row["sum(n)"] for row in groups.sum("n").collect()))


try:
    query(int(sys.argv[1]))
except PySparkException as error:
    print(f"failed: {type(error).__name__}: {error}")
    while "again:" in sys.argv:
        SparkSession.builder.getOrCreate().stop()
        try:
            print("again:", SparkSession.builder.getOrCreate().range(10).count())
            break
        except PySparkException:  # the server that is ending
            time.sleep(0.5)
