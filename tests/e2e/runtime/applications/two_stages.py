"""A shuffle of two stages that executors come for: an argument is the number of tasks of the first one."""

import sys
import time
from collections.abc import Iterable, Iterator
from operator import add

from pyspark.sql import SparkSession

tasks = int(sys.argv[1])
context = SparkSession.builder.getOrCreate().sparkContext


def slowly(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """A part of the work, which takes a second and uses no core: there may be more tasks than cores."""
    time.sleep(1)
    return ((number % 100, number) for number in numbers)


sums = context.parallelize(range(100_000), tasks).mapPartitions(slowly).reduceByKey(add, tasks // 2)
print(
    "sum:", sums.mapPartitions(lambda pairs: slowly(value for _, value in pairs)).values().sum(), flush=True
)
context.stop()
