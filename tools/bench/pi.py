"""`make bench-cluster`: pi with two executors on the test cluster: sparkgen and Spark's own backend.

All run the same Spark with the same settings, in turn, A B C A B C, so that a noisy machine treats all
alike. The time is from the command that submits (`spark-submit`, or `sparkgen render | kubectl apply`)
until the driver's pod has succeeded. Where it goes is read from the pod's times and the driver's log.
sparkgen runs twice: in the image that Spark's own backend has, and in its own, which is that image with
the runtime and an archive of Spark's classes on top.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bench import cluster as bench_cluster
from bench.folders import FOLDER
from bench.pages import Page, by_round, median
from bench.programs import ROLE, application, apply_rendered
from cluster.handle import Cluster

RESULTS = FOLDER / "pi.md"
GOAL = 0.70
OWN, STOCK, NATIVE = "sparkgen (its image)", "sparkgen (stock image)", "native"


@dataclass(frozen=True, slots=True)
class Run:
    """One application: its wall in seconds, and how long each part of it took, by name."""

    wall: float
    parts: dict[str, float]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the table, and keep it with `--write`; 1 when the goal is missed."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=5).parse_args(arguments)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, home: rounds(cluster, home, options.version, options.rounds),
        lambda found: page(found, options.version),
        lambda found: ratio(found, OWN) <= GOAL,
    )


def rounds(cluster: Cluster, home: Path, version: str, count: int) -> list[dict[str, Run]]:
    """Runs by side, after one of each that is not counted."""
    image = cluster.load_spark_with_runtime(version)
    sides: dict[str, Callable[[str], Run]] = {
        OWN: lambda namespace: sparkgen(cluster, namespace, version, image=image, runtimeImage=image),
        STOCK: lambda namespace: sparkgen(cluster, namespace, version),
        NATIVE: lambda namespace: native(cluster, namespace, home, version),
    }
    return bench_cluster.rounds(cluster, sides, count + 1)[1:]


def ratio(found: Sequence[Mapping[str, Run]], side: str) -> float:
    """The median of a side's wall over native Spark's."""
    return statistics.median(one[side].wall / one[NATIVE].wall for one in found)


def sparkgen(cluster: Cluster, namespace: str, version: str, **spec: str) -> Run:
    """The application by `sparkgen render ... | kubectl apply -f -`, with fields of its `spec` on top."""
    document = application(namespace, version, arguments=["10"], executor={**ROLE, "instances": 2}, **spec)
    return timed(cluster, namespace, apply_rendered(cluster, document))


def native(cluster: Cluster, namespace: str, home: Path, version: str) -> Run:
    """The application by `spark-submit --master k8s://...`, in cluster mode, as a person runs it."""
    settings = {"spark.executor.instances": "2"}
    return timed(cluster, namespace, bench_cluster.submit_native(cluster, namespace, home, version, settings))


MARKS = {
    "driver's JVM up": "Running Spark version",
    "executors registered": "Registered executor",
    "job begun": "Starting job",
    "job done": "finished: reduce",
    "context stopped": "Successfully stopped SparkContext",
}
"""What in the driver's log ends each part."""


def timed(cluster: Cluster, namespace: str, began: float) -> Run:
    """Wait for the end. The parts are the seconds from the beginning at which each part was over."""
    wall = bench_cluster.finished(cluster, namespace, began)
    (pod,) = cluster.objects("pods", namespace, "spark-role=driver")
    (state,) = [
        entry["state"]["terminated"]
        for entry in pod["status"]["containerStatuses"]
        if entry["name"] == "spark-kubernetes-driver"
    ]
    times = {
        "driver's pod created": pod["metadata"]["creationTimestamp"],
        "driver's container started": state["startedAt"],
    }
    log = bench_cluster.driver_log(cluster, namespace, "--timestamps").splitlines()
    for name, text in MARKS.items():
        if lines := [line for line in log if text in line]:  # the last of several: all executors are there
            times[name] = lines[-1].split(" ", 1)[0]
    ends = {name: datetime.fromisoformat(time).timestamp() - began for name, time in times.items()}
    return Run(wall, {**ends, "driver's pod succeeded": wall})


def page(found: Sequence[Mapping[str, Run]], version: str) -> str:
    """The page: the rounds, the medians and where the time goes."""
    sides = (OWN, STOCK, NATIVE)
    page = Page(RESULTS.name)
    page.setting(f"Spark {version}, the test cluster of this repository")
    page.rows(
        by_round(
            [
                *(f"{one[side].wall:.1f}" for side in sides),
                *(f"{one[side].wall / one[NATIVE].wall:.2f}" for side in sides[:2]),
            ]
            for one in found
        )
    )
    page.say(
        "Median ratio: ",
        f"**{ratio(found, OWN):.2f}** in sparkgen's image (goal: at most {GOAL:.2f}), "
        f"**{ratio(found, STOCK):.2f}** in the stock image.",
    )
    ends = (
        (name, *(median(one[side].parts.get(name) for one in found) for side in sides))
        for name in found[0][OWN].parts
    )
    page.rows(ends, number=1)
    return page.text()
