"""The program of `sparkgen doctor`: it tries Spark in a namespace, and prints a line for each result.

A line is the word `sparkgen-doctor` and JSON: `step`, and either `ok` with what was `found`, or `delete`: the
executor whose pod the command must delete now, at once or with its `grace` period.
"""

import contextlib
import json
import os
import random
import socket
import sys
import threading
import time
import uuid
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.sql import SparkSession

LIMIT = 45.0
"""Seconds for one step."""
WISHED = 2
"""Executors: as many as the document allows."""
BLOCKS = 4
EVICTION = 120.0
"""Seconds for an eviction: a kubelet measures volumes once a minute."""
TASKS = 1000
"""As long as tasks wait, Spark wants all executors."""
POINTS = 200_000

context = SparkSession.builder.getOrCreate().sparkContext
busy = threading.Event()


def tell(step, **facts):
    """Print a line for the command."""
    print("sparkgen-doctor", json.dumps({"step": step, **facts}), flush=True)


def executors():
    """Return the ids of the executors that Spark has."""
    known = context._jsc.sc().statusStore().executorList(True)
    return {known.apply(at).id() for at in range(known.size())} - {"driver"}


def work():
    """Give all executors tasks while `busy` is set; the other steps have a fair share of them."""
    context.setLocalProperty("spark.scheduler.pool", "work")
    while busy.wait():
        with contextlib.suppress(Py4JJavaError):  # `rest` ends the job
            context.parallelize(range(TASKS), TASKS).foreach(lambda _: time.sleep(0.3))


def rest():
    """Give no tasks any more."""
    busy.clear()
    context.cancelAllJobs()


def until(reached):
    """Wait for a condition. Return the seconds that it took, or None after the limit."""
    began = time.monotonic()
    while time.monotonic() < began + LIMIT:
        if reached():
            return time.monotonic() - began
        time.sleep(0.3)
    return None


def dns():
    """Look up the API server's name."""
    name, began = "kubernetes.default.svc", time.monotonic()
    try:
        address = socket.getaddrinfo(name, 443)[0][4][0]
    except OSError as error:
        return tell("dns", ok=False, found=f"a pod cannot look up {name}: {error}")
    took = time.monotonic() - began
    return tell("dns", ok=took < 2, found=f"a pod looks up {name} in {took:.1f} s ({address})")


def starts(step):
    """Wait until all executors are there. Return whether they are."""
    busy.set()
    took = until(lambda: len(executors()) >= WISHED)
    when = "" if took and took < 1 else f" after {took or LIMIT:.0f} s"
    tell(step, ok=took is not None, found=f"{len(executors())} of {WISHED} executors{when}")
    return took is not None


def pi():
    """Estimate pi with random points."""

    def inside(part):
        points = random.Random(part)
        return sum(points.random() ** 2 + points.random() ** 2 <= 1 for _ in range(POINTS))

    value = 4 * context.parallelize(range(8), 8).map(inside).sum() / (8 * POINTS)
    tell("pi", ok=abs(value - 3.1416) < 0.01, found=f"pi is about {value:.4f}")


def idle():
    """Wait until Spark has released the executors, because there is nothing to do."""
    rest()
    took = until(lambda: not executors())
    left = f"{len(executors())} idle executors stay"
    tell("idle", ok=took is not None, found=left if took is None else f"all ended after {took:.0f} s")


def moved():
    """Cache blocks, and have an executor deleted: its blocks must be at another one, not computed again."""

    def made(_):
        time.sleep(0.5)
        return f"{os.environ.get('SPARK_EXECUTOR_ID')} {uuid.uuid4()}"

    cached = context.parallelize(range(BLOCKS), BLOCKS).map(made).cache()
    before = cached.collect()
    leaving = before[0].partition(" ")[0]
    own = {block for block in before if block.startswith(f"{leaving} ")}
    tell("moved", delete=leaving)
    took = until(lambda: leaving not in executors())
    if took is None:
        return tell("moved", ok=False, found=f"executor {leaving} did not end in {LIMIT:.0f} s")
    kept = len(own & set(cached.collect()))
    return tell(
        "moved", ok=kept == len(own), found=f"{kept} of {len(own)} cached blocks moved in {took:.0f} s"
    )


def replaced():
    """Have an executor killed: another one must come."""
    until(lambda: len(executors()) >= WISHED)
    before = executors()
    killed = min(before)
    tell("replaced", delete=killed, grace=0)
    took = until(lambda: killed not in executors() and len(executors()) >= WISHED)
    new = ", ".join(sorted(executors() - before))
    text = f"executor {killed} was killed; {new} replaced it after {took:.0f} s" if took else ""
    tell(
        "replaced", ok=took is not None, found=text or f"executor {killed} was not replaced in {LIMIT:.0f} s"
    )


def disk():
    """Fill the volume of an executor beyond its limit: its task must run again on another one."""

    def fill(_):
        if TaskContext.get().attemptNumber():
            return True
        Path("/opt/fill/file").write_bytes(bytes(40 << 20))
        time.sleep(EVICTION)
        return False

    evicted = context.parallelize([0], 1).map(fill).collect()[0]
    took = until(lambda: len(executors()) >= WISHED) if evicted else None
    good = "an executor that used too much disk was evicted and replaced, and its task ran again"
    tell(
        "disk",
        ok=took is not None,
        found=good if took else "an executor that used too much disk was not evicted",
    )


def main():
    """Try everything, in the order of the command's table."""
    dns()
    threading.Thread(target=work, daemon=True).start()
    if starts("executors"):
        pi()
        idle()
        if starts("executors-again"):
            moved()
            replaced()
            if sys.argv[1:] == ["conformance"]:
                disk()
    rest()


main()
context.stop()
