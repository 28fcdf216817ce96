"""Ten applications of different shapes, for the proof of `sparkgen whatif`: the first argument names one.

Their tasks wait more than they compute, as tasks do that read from a storage: on a small machine, executors
then do not take the processor from each other, which no replay could know.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from operator import add

from pyspark import SparkContext, TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, expr


def waits(seconds: float) -> Callable[[int], tuple[int, int]]:
    """A task's function: it takes so long for each of its records."""

    def work(number: int) -> tuple[int, int]:
        time.sleep(seconds)
        return number % 8, number

    return work


def skewed(context: SparkContext) -> None:
    """One task of sixteen takes twelve times as long as the others."""
    context.parallelize(range(16), 16).map(lambda one: waits(12.0 if one == 5 else 1.0)(one)).count()


def many_short_stages(context: SparkContext) -> None:
    """Fifteen jobs of short tasks."""
    for _ in range(15):
        context.parallelize(range(6), 6).map(waits(0.3)).count()


def wide_shuffle(context: SparkContext) -> None:
    """Each task of the second stage reads from each of the first."""
    mapped = context.parallelize(range(16), 16).map(waits(1.5)).reduceByKey(add, 12)
    mapped.map(lambda pair: waits(1.0)(pair[0])).count()


def caching(context: SparkContext) -> None:
    """Three jobs over what the first one has computed."""
    kept = context.parallelize(range(12), 12).map(waits(2.0)).cache()
    for _ in range(3):
        kept.map(lambda pair: waits(0.5)(pair[1])).count()


def idle_gaps(context: SparkContext) -> None:
    """Nothing to do for 15 s between two jobs."""
    for _ in range(2):
        context.parallelize(range(16), 16).map(waits(1.0)).count()
        time.sleep(15)


def driver_computes(context: SparkContext) -> None:
    """What tasks give takes the driver as long as it took them."""
    for _ in range(3):
        context.parallelize(range(8), 8).map(waits(1.0)).collect()
        time.sleep(6)


def adaptive_sql(context: SparkContext) -> None:
    """A join and an aggregate, planned anew while it runs."""
    session = SparkSession(context)
    waiting = expr("java_method('java.lang.Thread', 'sleep', 200L)")
    left = session.range(0, 80, 1, 16).withColumn("key", col("id") % 20).withColumn("waited", waiting)
    right = session.range(0, 20, 1, 4).withColumnRenamed("id", "key")
    left.join(right.hint("merge"), "key").groupBy("key").agg(count("waited")).collect()


def micro_batches(context: SparkContext) -> None:
    """A stream whose trigger is a clock: five batches, one every 6 s."""
    session = SparkSession(context)
    seen: list[int] = []

    def batch(_rows: DataFrame, number: int) -> None:
        seen.append(number)
        context.parallelize(range(6), 6).map(waits(0.6)).count()

    rows = session.readStream.format("rate").option("rowsPerSecond", 5).load()
    stream = rows.writeStream.foreachBatch(batch).trigger(processingTime="6 seconds").start()
    while len(seen) < 5:
        time.sleep(0.5)
    stream.stop()


def failing_tasks(context: SparkContext) -> None:
    """Every fourth task fails once, after it has done half of its work."""

    def work(number: int) -> int:
        task = TaskContext.get()
        time.sleep(1.0)
        if number % 4 == 0 and task is not None and task.attemptNumber() == 0:
            raise ValueError("fails the first time")
        time.sleep(1.0)
        return number

    context.parallelize(range(16), 16).map(work).count()


def python_udfs(context: SparkContext) -> None:
    """Rows go to Python and back."""

    def work(rows: Iterable[int]) -> Iterator[int]:
        for row in rows:
            time.sleep(0.25)
            yield row + 1

    context.parallelize(range(96), 24).mapPartitions(work).count()


SHAPES = {
    shape.__name__: shape
    for shape in (
        *(skewed, many_short_stages, wide_shuffle, caching, idle_gaps, driver_computes, adaptive_sql),
        *(micro_batches, failing_tasks, python_udfs),
    )
}


if __name__ == "__main__":
    SHAPES[sys.argv[1]](SparkSession.builder.appName(sys.argv[1]).getOrCreate().sparkContext)
