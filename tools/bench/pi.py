"""`make bench-cluster`: pi with two executors on the test cluster: sparkgen and Spark's own backend.

All run the same Spark with the same settings, in turn, A B C A B C, so that a noisy machine treats all
alike. The time is from the command that submits (`spark-submit`, or `sparkgen render | kubectl apply`)
until the driver's pod has succeeded. Where it goes is read from the pod's times and the driver's log.
sparkgen runs twice: in the image that Spark's own backend has, and in its own, which is that image with
the runtime and an archive of Spark's classes on top.

With --runtimes, sparkgen alone runs, with the runtime from a ConfigMap and from an image, and a table of
medians is printed. The ConfigMap is in the namespace, as for all applications but the first, and the images
are on the nodes; with --pull, nodes pull that of Python or that of the runtime from a registry beside them.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import cluster as bench_cluster
from bench.folders import FOLDER
from bench.pages import Page, by_round, median, table
from bench.programs import ROLE, application, apply_rendered
from cluster import network, nodes, registry, runtime_image
from cluster.handle import Cluster
from cluster.images import debian
from cluster.plan import LAYOUT, NAME, NODES
from sparkgen.spark_versions import scala_line
from sparkgen.usecases.runtime import files_of

RESULTS = FOLDER / "pi.md"
GOAL = 0.70
CONFIG_MAP, IMAGE = "ConfigMap", "runtime image"
OWN, STOCK, NATIVE = "sparkgen (its image)", "sparkgen (stock image)", "native"


@dataclass(frozen=True, slots=True)
class Run:
    """One application: its wall in seconds, and how long each part of it took, by name."""

    wall: float
    parts: dict[str, float]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the table, and keep it with `--write`; 1 when the goal is missed."""
    parser = bench_cluster.parser(__doc__, RESULTS, rounds=5)
    parser.add_argument("--runtimes", action="store_true", help="only compare a ConfigMap with an image")
    parser.add_argument("--pull", action="store_true", help="with --runtimes: from a registry, in each run")
    options = parser.parse_args(arguments)
    if options.runtimes:
        options.write = False
        return bench_cluster.measure(
            options,
            RESULTS,
            lambda cluster, _: runtimes(cluster, options.version, options.rounds, pull=options.pull),
            lambda found: "\n".join(table([("seconds", *found[0]), *parts(found)], 1)),
        )
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


def runtimes(cluster: Cluster, version: str, count: int, *, pull: bool) -> list[dict[str, Run]]:
    """Runs with each runtime, after one of each that is not counted; rounds begin in turn with each."""
    files = files_of(scala_line(version))
    names = {CONFIG_MAP: cluster.load_python(), IMAGE: runtime_image.NAME}
    images = {CONFIG_MAP: debian(runtime_image.PACKAGES), IMAGE: runtime_image.runtime()}
    with TemporaryDirectory() as folder, registry.running(Path(folder), plain=True) as it:
        if pull:
            for node in NODES:
                nodes.remove_images(LAYOUT, node, [*names.values()])
            with network.inside(NAME):
                digests = {side: it.client().push("runtime", image) for side, image in images.items()}
            names = {side: f"{it.address}/runtime@{digest}" for side, digest in digests.items()}

        def from_config_map(namespace: str) -> Run:
            registry.forget(it.address)
            cluster.apply(files.config_map(namespace))
            own = {"runtimeConfigMap": files.name, "pythonImage": names[CONFIG_MAP]}
            return sparkgen(cluster, namespace, version, **own)

        def from_image(namespace: str) -> Run:
            registry.forget(it.address)
            return sparkgen(cluster, namespace, version, runtimeImage=names[IMAGE])

        sides = {CONFIG_MAP: from_config_map, IMAGE: from_image}
        return bench_cluster.rounds(cluster, sides, count + 1, turning=True)[1:]


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
    log = bench_cluster.driver_log(cluster, namespace, "--timestamps").splitlines()
    times = {
        "driver's pod created": pod["metadata"]["creationTimestamp"],
        # Its first line, because the pod's status has whole seconds.
        "driver's container started": log[0].split(" ", 1)[0],
    }
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
    page.rows(parts(found), number=1)
    return page.text()


def parts(found: Sequence[Mapping[str, Run]]) -> list[tuple[str, ...]]:
    """A row for each part: the median of each side's seconds until it was over."""
    first = next(iter(found[0].values()))
    return [
        (name, *(median(one[side].parts.get(name) for one in found) for side in found[0]))
        for name in first.parts
    ]
