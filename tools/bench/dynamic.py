"""`make bench-cluster`, dynamic allocation: a two-stage shuffle whose executors start and leave on demand.

sparkgen beside Spark's own backend, the same image and settings, in turn, A B A B. Executor-seconds are what
is paid for: from the creation of each executor's pod to its end, summed up.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import cluster as bench_cluster
from bench import programs
from bench.pod_watch import Pods
from cluster.handle import Cluster
from cluster.images import REPOSITORY

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "dynamic.md"
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
    role = {"cores": 1, "coreRequest": "100m", "memory": bench_cluster.MEMORY}
    document = {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "pi", "namespace": namespace},
        "spec": {
            "type": "Python",
            "sparkVersion": version,
            "image": f"{REPOSITORY}:{version}",
            "mainApplicationFile": f"local://{programs.FOLDER}/{PROGRAM.name}",
            "arguments": [str(TASKS)],
            "dynamicAllocation": {
                "enabled": True,
                "maxExecutors": MOST,
                "executorIdleTimeout": f"{IDLE}s",
            },
            "driver": {**role, "configMaps": [programs.MOUNT]},
            "executor": role,
        },
    }
    programs.put(cluster, namespace, PROGRAM)

    return _watched(cluster, namespace, partial(programs.apply_rendered, cluster, document))


def native(cluster: Cluster, home: Path, version: str, namespace: str) -> Result:
    """By `spark-submit --master k8s://...` in cluster mode."""
    programs.put(cluster, namespace, PROGRAM)
    program = (f"local://{programs.FOLDER}/{PROGRAM.name}", str(TASKS))
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
    lines = [
        "# A shuffle with dynamic allocation",
        "",
        "This page compares the time and the executor-seconds of a two-stage shuffle with sparkgen and with "
        "Spark's own backend.",
        "",
        f"Spark {version}, the test cluster of this repository, {os.cpu_count()} cores, "
        f"{datetime.now(UTC):%Y-%m-%d}.",
        "Measured with `make bench-cluster`; the raw data is in [`dynamic.json`](dynamic.json).",
        f"The job has {TASKS} tasks of a second each, then a shuffle, then half as many tasks.",
        f"It starts without executors and may have up to {MOST}; an executor that is idle for {IDLE} s "
        "leaves.",
        "Compare ratios: machines differ.",
        "",
        "- *native* is Spark's own backend.",
        "- *Wall* is the time from the command until the driver's pod succeeded.",
        "- *Executor-seconds* are the lifetimes of all executor pods, added up.",
        "",
        "| round | wall (s): sparkgen | wall (s): native | sparkgen / native "
        "| executor-seconds: sparkgen | executor-seconds: native | sparkgen / native |",
        "|---|---|---|---|---|---|---|",
    ]
    for number, pair in enumerate(found, start=1):
        cells = [_cells(pair, "wall"), _cells(pair, "executor_seconds")]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Median ratios: wall **{ratio(found, 'wall'):.2f}**, executor-seconds "
        f"**{ratio(found, 'executor_seconds'):.2f}**.",
    ]
    return "\n".join(lines) + "\n"


def _cells(pair: tuple[Result, Result], what: str) -> str:
    ours, theirs = (float(getattr(side, what)) for side in pair)
    return f"{ours:.1f} | {theirs:.1f} | {ours / theirs:.2f}"


def ratio(found: Rounds, what: str) -> float:
    """The median of ours over theirs."""
    values: list[Any] = [getattr(ours, what) / getattr(theirs, what) for ours, theirs in found]
    return float(statistics.median(values))


if __name__ == "__main__":
    sys.exit(main())
