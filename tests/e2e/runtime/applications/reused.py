"""A shuffle that is read again and again, while executors come and go; it tells as JSON what was run.

Arguments: what happens after the first action, "idle" (wait until no executor is left, and read once more),
"still:FILE" (wait for a file, and read once more) or a file until which it is read all the time; MiB of the
shuffle; how many map tasks write it; the seconds that each of these takes at least, if any. At the end it
prints a line for each stage, and one for all.
"""

import json
import os
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

between, size, tasks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 0.0
context = SparkSession.builder.getOrCreate().sparkContext
mapped = context.accumulator(0)
KIB = size * 1024 // tasks


def write(part: int) -> Iterator[tuple[int, bytes]]:
    """The part of one map task: so many KiB that cannot be compressed."""
    mapped.add(1)
    time.sleep(seconds)
    return ((part * KIB + number, os.urandom(1024)) for number in range(KIB))


def length(pairs: Iterator[tuple[int, bytes]]) -> Iterator[int]:
    """The bytes of one part of the shuffle."""
    yield sum(len(data) for _, data in pairs)


def executors() -> int:
    """How many executors Spark counts on."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1


def stages() -> list[dict[str, object]]:
    """What Spark's own interface tells of every stage, when it has heard of all that happened."""
    context._jsc.sc().listenerBus().waitUntilEmpty()
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(url, timeout=300) as answer:  # noqa: S310 - this very driver
        return list(json.load(answer))


# The parts are shuffled by a hash, and what a task read does not depend on the order of what it read.
shuffled = context.parallelize(range(tasks), tasks).flatMap(write).partitionBy(4).mapPartitions(length)
totals = [sum(shuffled.collect())]
print(f"mapped: {mapped.value}", flush=True)
if between == "idle":
    deadline = time.monotonic() + 300
    while executors() and time.monotonic() < deadline:
        time.sleep(0.5)
    print(f"executors left: {executors()}", flush=True)
    totals.append(sum(shuffled.collect()))
elif between.startswith("still:"):
    while not Path(between.removeprefix("still:")).exists():
        time.sleep(0.2)
    totals.append(sum(shuffled.collect()))
else:
    while not Path(between).exists():
        totals.append(sum(shuffled.collect()))
        time.sleep(0.2)
fields = (
    "stageId",
    "attemptId",
    "status",
    "numCompleteTasks",
    "shuffleLocalBytesRead",
    "shuffleRemoteBytesRead",
)
result = {
    "bytes": sorted(set(totals)),
    "expected": tasks * KIB * 1024,
    "actions": len(totals),
    "mapTasks": mapped.value,
}
for stage in stages():  # each on a line: a container's log breaks lines of 16 KiB
    print(f"stage: {json.dumps({name: stage.get(name) for name in fields})}", flush=True)
print(f"result: {json.dumps(result)}", flush=True)
context.stop()
