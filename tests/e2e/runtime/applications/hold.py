"""A job that lasts until a file appears, and then tells its result; some of its tasks may do harm first.

Arguments: the number of tasks, and what the first attempt of task 0 does: nothing, or "oom" or "disk".
With "hungry", each attempt of task 0 needs 800 MiB of memory outside of the heap.
"""

import sys
import time
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession

tasks, harm = int(sys.argv[1]), sys.argv[2]
seconds = float(sys.argv[3])
spark = SparkSession.builder.getOrCreate()


def work(number: int) -> int:
    """A task that takes a while; the first attempt of task 0 may end its whole executor."""
    first = TaskContext.get().attemptNumber() == 0
    if harm == "oom" and number == 0 and first:
        # Files in memory belong to no process: the kernel ends the largest one, which is the JVM.
        with Path("/opt/fill/it").open("wb") as file:
            while True:
                file.write(bytes(16 * 1024**2))
                time.sleep(0.05)
    if harm == "hungry" and number == 0:
        with Path("/opt/fill/it").open("wb") as file:
            for _ in range(50):
                file.write(bytes(16 * 1024**2))
    if harm == "disk" and number == 0 and first:
        Path("/opt/fill/it").write_bytes(bytes(64 * 1024**2))  # more than the volume may hold
        time.sleep(600)  # until the kubelet has looked
    time.sleep(seconds)
    return number


print("total:", spark.sparkContext.parallelize(range(tasks), tasks).map(work).sum(), flush=True)
spark.stop()
