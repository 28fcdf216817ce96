"""The job of `make bench-shuffle`: a shuffle that is read several times, with pauses in between.

Arguments: how many pauses, and the seconds of each.
"""

import sys
import time
from collections.abc import Iterator
from operator import add

from pyspark.sql import SparkSession

pauses, seconds = int(sys.argv[1]), float(sys.argv[2])
context = SparkSession.builder.getOrCreate().sparkContext


def slowly(part: int) -> Iterator[tuple[int, int]]:
    """The part of one map task, which takes four seconds."""
    time.sleep(4)
    return ((number % 100, number) for number in range(part * 10_000, (part + 1) * 10_000))


sums = context.parallelize(range(8), 8).flatMap(slowly).reduceByKey(add, 4)
results = {tuple(sorted(sums.collect()))}
for _ in range(pauses):
    time.sleep(seconds)
    results.add(tuple(sorted(sums.collect())))
if len(results) != 1:
    sys.exit(f"the reads have different results: {results}")
print("read again:", pauses, flush=True)
context.stop()
