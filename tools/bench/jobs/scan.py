"""The job of `make bench-locality`: counts lines of files in HDFS, and says where each task ran.

scan.py PATHS (a glob). The last line of its log is `result: ` and JSON: levels, scan, tasks (see `main`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import PurePath
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import input_file_name, spark_partition_id


def main() -> None:
    """Scan, and print what became of it.

    `levels`: Spark's words for how near tasks were, by stage: the scan, and what adds up its counts. `scan`:
    seconds from the first task of the scan to the end of its last one. `tasks`: file and executor's host.
    """
    spark = SparkSession.builder.getOrCreate()
    lines = spark.read.text(sys.argv[1]).select(
        input_file_name().alias("file"), spark_partition_id().alias("part")
    )
    counted = lines.groupBy("file", "part").count().collect()
    print("lines:", sum(row["count"] for row in counted), flush=True)
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    tracker = spark.sparkContext.statusTracker()
    found = (tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup())
    stages = sorted({stage for job in found if job for stage in job.stageIds})
    tasks = {stage: ended(context, stage) for stage in stages}
    scan, hosts = tasks[stages[0]], executors(context)
    begins, ends = zip(*((task["began"], task["ended"]) for task in scan.values()), strict=True)
    result = {
        "levels": [dict(Counter(task["level"] for task in tasks[stage].values())) for stage in stages],
        "scan": (max(ends) - min(begins)) / 1000,
        "tasks": [[PurePath(row["file"]).name, hosts[scan[row["part"]]["executor"]]] for row in counted],
    }
    spark.stop()
    print("result:", json.dumps(result), flush=True)


def ended(context: Any, stage: int) -> dict[int, dict[str, Any]]:
    """The tasks of a stage, by their partition; times are milliseconds. None of a stage that was skipped."""
    found = {}
    tasks = context.statusStore().taskList(stage, 0, 10_000).iterator()
    while tasks.hasNext():
        task = tasks.next()
        began = task.launchTime().getTime()
        found[task.index()] = {
            "level": str(task.taskLocality()),
            "executor": str(task.executorId()),
            "began": began,
            "ended": began + task.duration().get(),
        }
    return found


def executors(context: Any) -> dict[str, str]:
    """The address of each executor's pod, also of those that have gone."""
    found = {}
    each = context.statusStore().executorList(False).iterator()
    while each.hasNext():
        executor = each.next()
        found[str(executor.id())] = str(executor.hostPort()).rpartition(":")[0]
    return found


main()
