"""Work that comes in waves: python waves.py [NUMBER OF WAVES]. Between them there is nothing to do."""

import os
import sys
import time

from pyspark import SparkContext

TASKS = 10
TASK_SECONDS = 1
PAUSE_SECONDS = 6


def task(_: int) -> str:
    """Take a while, and say which executor did it."""
    time.sleep(TASK_SECONDS)
    return os.environ["SPARK_EXECUTOR_ID"]


def main(waves: int) -> None:
    """Run the waves."""
    context = SparkContext.getOrCreate()
    for wave in range(1, waves + 1):
        if wave > 1:
            print(f"nothing to do for {PAUSE_SECONDS} s: executors that are idle for 3 s leave", flush=True)
            time.sleep(PAUSE_SECONDS)
        print(f"wave {wave} of {waves}: {TASKS} tasks", flush=True)
        workers = set(context.parallelize(range(TASKS), TASKS).map(task).collect())
        print(f"wave {wave} was done by executors {', '.join(sorted(workers, key=int))}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
