"""Shuffles, again and again, for a while; the same sums each time, or it fails.

Arguments: the seconds that it lasts at least, the seconds of rest between two rounds, in which executors may
be let go, and perhaps a file, for which it waits as well.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from operator import add
from pathlib import Path

from pyspark.sql import SparkSession

lasts, rest, signs = float(sys.argv[1]), float(sys.argv[2]), [Path(name) for name in sys.argv[3:]]
context = SparkSession.builder.getOrCreate().sparkContext
began = time.monotonic()


def slowly(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """A part of the work, which takes a second."""
    time.sleep(1)
    return ((number % 5, number) for number in numbers)


rounds, results = 0, set()
while not rounds or time.monotonic() - began < lasts or not all(sign.exists() for sign in signs):
    sums = context.parallelize(range(1000), 6).mapPartitions(slowly).reduceByKey(add, 4).collectAsMap()
    rounds += 1
    results.add(tuple(sums[key] for key in range(5)))
    print(f"round {rounds}", flush=True)
    time.sleep(rest)
if len(results) != 1:
    sys.exit(f"rounds differ: {results}")
print(f"after {rounds} rounds: {results.pop()}", flush=True)
context.stop()
