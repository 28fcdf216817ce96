"""A job that lasts until a file appears, and then tells its result; some of its tasks may do harm first.

Arguments: the number of tasks, and what the first attempt of task 0 does: nothing, or "oom".
"""

import os
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
        # The kernel shall choose the JVM: a worker that dies alone is only a failed task.
        Path(f"/proc/{os.getppid()}/oom_score_adj").write_text("1000")
        for process in Path("/proc").glob("[0-9]*"):
            if b"java" in (process / "cmdline").read_bytes():
                (process / "oom_score_adj").write_text("1000")
        taken = b"x" * (4 * 1024**3)  # written to, so that it is really used
        print(len(taken))
    time.sleep(seconds)
    return number


print("total:", spark.sparkContext.parallelize(range(tasks), tasks).map(work).sum(), flush=True)
spark.stop()
