"""`make bench-cluster`, dynamic allocation: a two-stage shuffle whose executors start and leave on demand.

sparkgen beside Spark's own backend, the same image and settings, in turn, A B A B. Executor-seconds are what
is paid for: from the creation of each executor's pod to its end, summed up.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench import programs
from bench.pages import FOLDER, ROOT, by_round, opening, table
from bench.pod_watch import Pods
from cluster.handle import Cluster

RESULTS = FOLDER / "dynamic.md"
PROGRAM = ROOT / "tests" / "e2e" / "runtime" / "applications" / "two_stages.py"
MOST = 3
"""Executors: more than that do not help on two cores."""
TASKS = 24
IDLE = 3


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds from the submitting command to the driver's pod succeeded, and what was used for it."""

    wall: float
    executor_seconds: float
    executors: int


Rounds = list[tuple[Result, Result]]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=3).parse_args(arguments)
    version = options.version
    found = bench_cluster.measured(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, version, options.rounds),
        lambda found: page(found, version),
        lambda found: [{"sparkgen": asdict(ours), "native": asdict(theirs)} for ours, theirs in found],
    )
    return 1 if found is None else 0


def measured(cluster: Cluster, home: Path, version: str, rounds: int) -> Rounds:
    """Pairs of results."""
    sides: tuple[Callable[[str], Result], ...] = (
        partial(sparkgen, cluster, version),
        partial(native, cluster, home, version),
    )
    pairs = []
    for number in range(rounds):
        ours, theirs = (bench_cluster.in_namespace(cluster, side) for side in sides)
        print(f"round {number + 1}: sparkgen {ours}, native {theirs}", file=sys.stderr, flush=True)
        pairs.append((ours, theirs))
    return pairs


def sparkgen(cluster: Cluster, version: str, namespace: str) -> Result:
    """By `sparkgen render - | kubectl apply -f -`."""
    dynamic = {"enabled": True, "maxExecutors": MOST, "executorIdleTimeout": f"{IDLE}s"}
    document = programs.mounted(
        namespace, version, PROGRAM, arguments=[str(TASKS)], dynamicAllocation=dynamic
    )
    programs.put(cluster, namespace, PROGRAM)
    return _watched(cluster, namespace, partial(programs.apply_rendered, cluster, document))


def native(cluster: Cluster, home: Path, version: str, namespace: str) -> Result:
    """By `spark-submit --master k8s://...` in cluster mode."""
    programs.put(cluster, namespace, PROGRAM)
    program = (programs.in_driver(PROGRAM), str(TASKS))
    with programs.native_settings(namespace, MOST) as settings:
        settings["spark.dynamicAllocation.executorIdleTimeout"] = f"{IDLE}s"
        submit = partial(bench_cluster.submit_native, cluster, namespace, home, version, settings, program)
        return _watched(cluster, namespace, submit)


def _watched(cluster: Cluster, namespace: str, submit: Callable[[], float]) -> Result:
    executors = Pods(cluster, namespace, "spark-role=executor")
    run = bench_cluster.finished(cluster, namespace, submit())
    executors.wait_ended(40)
    result = Result(run.wall, executors.pod_seconds(), len(executors.seen))
    executors.close()
    return result


def page(found: Rounds, version: str) -> str:
    """The page: the rounds and the medians."""
    columns = [
        column
        for what in ("wall (s)", "executor-seconds")
        for column in (f"{what}: sparkgen", f"{what}: native", "sparkgen / native")
    ]
    rows = by_round((*_cells(pair, "wall"), *_cells(pair, "executor_seconds")) for pair in found)
    lines = [
        *opening(
            "A shuffle with dynamic allocation",
            "This page compares the time and the executor-seconds of a two-stage shuffle with sparkgen and "
            "with Spark's own backend.",
            f"Spark {version}, the test cluster of this repository",
            *("bench-cluster", "dynamic"),
        ),
        f"The job has {TASKS} tasks of a second each, then a shuffle, then half as many tasks.",
        f"It starts without executors and may have up to {MOST}; an executor that is idle for {IDLE} s "
        "leaves.",
        "Compare ratios: machines differ.",
        "",
        "- *native* is Spark's own backend.",
        "- *Wall* is the time from the command until the driver's pod succeeded.",
        "- *Executor-seconds* are the lifetimes of all executor pods, added up.",
        "",
        table([("round", *columns), *rows]),
        "",
        f"Median ratios: wall **{ratio(found, 'wall'):.2f}**, executor-seconds "
        f"**{ratio(found, 'executor_seconds'):.2f}**.",
    ]
    return "\n".join(lines) + "\n"


def _cells(pair: tuple[Result, Result], what: str) -> tuple[str, ...]:
    ours, theirs = (float(getattr(side, what)) for side in pair)
    return f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}"


def ratio(found: Rounds, what: str) -> float:
    """The median of ours over theirs."""
    values: list[Any] = [getattr(ours, what) / getattr(theirs, what) for ours, theirs in found]
    return float(statistics.median(values))
