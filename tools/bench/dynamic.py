"""`make bench-cluster`, dynamic allocation: a two-stage shuffle whose executors start and leave on demand.

The same document with `allocator: sparkgen` and with `allocator: spark` (native), in turn, A B A B.
Executor-seconds are what is paid for: from the creation of each executor's pod to its end, summed up.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench import cluster as bench_cluster
from bench import programs
from bench.folders import FOLDER, ROOT
from bench.pages import Page, by_round
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


Round = dict[str, Result]
"""By side: "sparkgen" and "native"."""


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=3).parse_args(arguments)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, _: bench_cluster.rounds(cluster, sides(cluster, options.version), options.rounds),
        lambda found: page(found, options.version),
    )


def sides(cluster: Cluster, version: str) -> dict[str, Callable[[str], Result]]:
    """What runs the application in a namespace, by the name of the side."""
    allocators = {"sparkgen": "sparkgen", "native": "spark"}
    return {side: partial(used, cluster, version, allocator) for side, allocator in allocators.items()}


def used(cluster: Cluster, version: str, allocator: str, namespace: str) -> Result:
    """What the application needs with an allocator; by `sparkgen render - | kubectl apply -f -`."""
    spec: dict[str, Any] = {
        "allocator": allocator,
        "arguments": [str(TASKS)],
        "dynamicAllocation": {"enabled": True, "maxExecutors": MOST, "executorIdleTimeout": f"{IDLE}s"},
    }
    document = programs.mounted(namespace, version, PROGRAM, **spec)
    programs.put(cluster, namespace, PROGRAM)
    executors = Pods(cluster, namespace, "spark-role=executor")
    wall = bench_cluster.finished(cluster, namespace, programs.apply_rendered(cluster, document))
    executors.wait_ended(40)
    result = Result(wall, executors.pod_seconds(), len(executors.seen))
    executors.close()
    return result


def page(found: Sequence[Round], version: str) -> str:
    """The page: the rounds and the medians."""
    page = Page(RESULTS.name)
    page.setting(f"Spark {version}, the test cluster of this repository")
    page.rows(by_round((*_cells(one, "wall"), *_cells(one, "executor_seconds")) for one in found))
    wall, used = (
        statistics.median(_ratio(one, what) for one in found) for what in ("wall", "executor_seconds")
    )
    page.say("Median ratios: ", f"wall **{wall:.2f}**, executor-seconds **{used:.2f}**.")
    return page.text()


def _cells(one: Round, what: str) -> tuple[str, ...]:
    ours, theirs = (float(getattr(one[side], what)) for side in ("sparkgen", "native"))
    return f"{ours:.1f}", f"{theirs:.1f}", f"{_ratio(one, what):.2f}"


def _ratio(one: Round, what: str) -> float:
    return float(getattr(one["sparkgen"], what) / getattr(one["native"], what))
