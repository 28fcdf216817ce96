"""`make bench-cluster`: pi with two executors on the test cluster: sparkgen and Spark's own backend.

All run the same Spark with the same settings, in turn, A B C A B C, so that a noisy machine treats all
alike. The time is from the command that submits (`spark-submit`, or `sparkgen render | kubectl apply`)
until the driver's pod has succeeded. Where it goes is read from the pod's times and the driver's log.
sparkgen runs twice: in the image that Spark's own backend has, and in its own, which is that image with
the runtime and an archive of Spark's classes on top.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from bench import pages
from bench.pages import FOLDER, by_round, keep, median, opening, table
from bench.programs import MEMORY, PI, ROLE, application, apply_rendered
from cluster import accounts, lifecycle, lock, network, requirements
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import API_SERVER, LAYOUT, LOCK, NAME
from common.cachedir import ToolError
from spark import spark_home

RESULTS = FOLDER / "pi.md"
GOAL = 0.70
SECONDS = 300.0
OWN, STOCK, NATIVE = "sparkgen (its image)", "sparkgen (stock image)", "native"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Run:
    """One application: its wall in seconds, and how long each part of it took, by name."""

    wall: float
    parts: dict[str, float]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the table, and keep it with `--write`; 1 when the goal is missed."""
    options = parser(__doc__, RESULTS, rounds=5).parse_args(arguments)
    version = options.version
    found = measured(
        options,
        RESULTS,
        lambda cluster, home: rounds(cluster, home, version, options.rounds),
        lambda found: report(found, version),
        lambda found: [{side: asdict(run) for side, run in one.items()} for one in found],
    )
    return 1 if found is None else int(ratio(found, OWN) > GOAL)


def parser(description: str | None, page: Path, rounds: int) -> argparse.ArgumentParser:
    """The options that benchmarks on the test cluster have in common."""
    made = pages.parser(description, page, rounds)
    made.add_argument(
        "--version", default=TESTED_VERSIONS[-1], help="Spark version (default: the newest tested)"
    )
    return made


def measured(
    options: argparse.Namespace,
    results: Path,
    measure: Callable[[Cluster, Path], Result],
    page: Callable[[Result], str],
    raw: Callable[[Result], list[Any]],
    **more: object,
) -> Result | None:
    """Measure on the test cluster, with a Spark at hand, and print the page; None when that fails, and why.

    With --write, the page is kept, and beside it what is `raw` of each round, the version, and `more`.
    """
    try:
        requirements.check()
        home = spark_home.ensure(options.version)
        with held("make bench-cluster", options.version) as cluster:
            found = measure(cluster, home)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return None
    text = page(found)
    print(text)
    if options.write:
        keep(results, text, {**more, "version": options.version, "rounds": raw(found)})
    return found


@contextmanager
def held(what: str, version: str) -> Iterator[Cluster]:
    """The running cluster, for the command `what` alone, with the images that a benchmark needs."""
    with lock.held(LOCK, what):
        lifecycle.up()
        cluster = Cluster(LAYOUT.kubeconfig, own=True)
        cluster.load_runtime()
        cluster.load_spark([version])
        yield cluster


def rounds(cluster: Cluster, home: Path, version: str, count: int) -> list[dict[str, Run]]:
    """Runs by side, after one of each that is not counted."""
    image = cluster.load_spark_with_runtime(version)
    sides: dict[str, Callable[[str], Run]] = {
        OWN: lambda namespace: sparkgen(cluster, namespace, version, image=image, runtimeImage=image),
        STOCK: lambda namespace: sparkgen(cluster, namespace, version),
        NATIVE: lambda namespace: native(cluster, namespace, home, version),
    }
    found = []
    for number in range(count + 1):
        found.append({name: in_namespace(cluster, run) for name, run in sides.items()})
        told = ", ".join(f"{name} {run.wall:.1f} s" for name, run in found[-1].items())
        print(f"round {number}: {told}", file=sys.stderr)
    return found[1:]


def ratio(found: Sequence[Mapping[str, Run]], side: str) -> float:
    """The median of a side's wall over native Spark's."""
    return statistics.median(one[side].wall / one[NATIVE].wall for one in found)


def in_namespace(cluster: Cluster, run: Callable[[str], Result], seconds: float = 180.0) -> Result:
    """What a run in a namespace of its own came to; the namespace is gone, within the seconds, after it."""
    namespace = f"bench-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", namespace)
    try:
        return run(namespace)
    finally:
        cluster.kubectl("delete", "namespace", namespace, seconds=seconds)


def sparkgen(cluster: Cluster, namespace: str, version: str, **spec: str) -> Run:
    """The application by `sparkgen render ... | kubectl apply -f -`, with fields of its `spec` on top."""
    document = application(namespace, version, arguments=["10"], executor={**ROLE, "instances": 2}, **spec)
    return finished(cluster, namespace, apply_rendered(cluster, document))


def native(cluster: Cluster, namespace: str, home: Path, version: str) -> Run:
    """The application by `spark-submit --master k8s://...`, in cluster mode, as a person runs it."""
    began = submit_native(cluster, namespace, home, version, {"spark.executor.instances": "2"})
    return finished(cluster, namespace, began)


def submit_native(
    cluster: Cluster,
    namespace: str,
    home: Path,
    version: str,
    settings: Mapping[str, str],
    program: Sequence[str] = (PI, "10"),
) -> float:
    """Submit a program with further settings, by an account made for it; the time at which it began."""
    token = accounts.token(cluster, namespace)
    conf = {
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": f"{REPOSITORY}:{version}",
        "spark.kubernetes.authenticate.driver.serviceAccountName": accounts.NAME,
        "spark.kubernetes.driver.request.cores": "100m",
        "spark.kubernetes.executor.request.cores": "100m",
        "spark.kubernetes.submission.waitAppCompletion": "false",
        "spark.kubernetes.authenticate.submission.caCertFile": str(LAYOUT.pki / "ca.crt"),
        # fabric8, which spark-submit talks with, does not read every kind of client key.
        "spark.kubernetes.authenticate.submission.oauthToken": token,
        "spark.driver.memory": MEMORY,
        "spark.executor.memory": MEMORY,
        **settings,
    }
    options = [f"--conf={name}={value}" for name, value in conf.items()]
    began = time.time()
    command = [
        *(*network.enter(NAME), str(home / "bin" / "spark-submit"), f"--master=k8s://{API_SERVER}"),
        *("--deploy-mode=cluster", "--name=pi", *options, *program),
    ]
    environment = {**os.environ, "SPARK_HOME": str(home), "KUBECONFIG": os.devnull}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"spark-submit failed:\n{done.stderr[-3000:]}")
    return began


def finished(cluster: Cluster, namespace: str, began: float) -> Run:
    """Wait for the driver's pod to succeed; ToolError when it does not."""
    looks = ("get", "pods", "-n", namespace, "-l", "spark-role=driver", "--watch")
    with cluster.following(*looks, "-o", "jsonpath={.status.phase}{'\\n'}", seconds=SECONDS) as phases:
        for phase in phases:
            if phase == "Succeeded":
                wall = time.time() - began
                (pod,) = cluster.objects("pods", namespace, "spark-role=driver")
                return Run(wall, parts(cluster, namespace, pod, began, wall))
            if phase == "Failed":
                break
    raise ToolError(f"the driver did not succeed:\n{cluster.kubectl('get', 'pods', '-n', namespace)}")


MARKS = {
    "driver's JVM up": "Running Spark version",
    "executors registered": "Registered executor",
    "job begun": "Starting job",
    "job done": "finished: reduce",
    "context stopped": "Successfully stopped SparkContext",
}
"""What in the driver's log ends each part."""


def parts(
    cluster: Cluster, namespace: str, pod: dict[str, Any], began: float, wall: float
) -> dict[str, float]:
    """Seconds from the beginning at which each part was over."""
    (state,) = [
        entry["state"]["terminated"]
        for entry in pod["status"]["containerStatuses"]
        if entry["name"] == "spark-kubernetes-driver"
    ]
    created = _seconds(pod["metadata"]["creationTimestamp"]) - began
    result = {
        "driver's pod created": created,
        "driver's container started": _seconds(state["startedAt"]) - began,
    }
    log = cluster.kubectl(
        "logs", "-n", namespace, pod["metadata"]["name"], "--timestamps", "-c", "spark-kubernetes-driver"
    )
    for name, text in MARKS.items():
        lines = [line for line in log.splitlines() if text in line]
        if lines:  # the last of several: all executors are there
            stamp = lines[-1].split(" ", 1)[0]
            result[name] = _seconds(stamp) - began
    return {**result, "driver's pod succeeded": wall}


def _seconds(stamp: str) -> float:
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    at = datetime.fromisoformat(whole).replace(tzinfo=UTC).timestamp()
    return at + (float(f"0.{fraction}") if fraction else 0.0)


def report(found: Sequence[Mapping[str, Run]], version: str) -> str:
    """The page: the rounds, the medians and where the time goes."""
    sides = (OWN, STOCK, NATIVE)
    rounds: list[tuple[str, ...]] = [("round", *sides, f"{OWN} / {NATIVE}", f"{STOCK} / {NATIVE}")]
    rounds += by_round(
        [
            *(f"{one[side].wall:.1f}" for side in sides),
            *(f"{one[side].wall / one[NATIVE].wall:.2f}" for side in sides[:2]),
        ]
        for one in found
    )
    ends: list[tuple[str, ...]] = [("done after (median seconds)", *sides)]
    ends += [
        (name, *(median(one[side].parts.get(name) for one in found) for side in sides))
        for name in found[0][OWN].parts
    ]
    lines = [
        *opening(
            "Pi with two executors",
            "This page compares how long a small application takes with sparkgen and with Spark's own "
            "backend.",
            f"Spark {version}, the test cluster of this repository",
            *("bench-cluster", "pi"),
        ),
        "Times are seconds from the submitting command until the driver's pod has succeeded.",
        "Compare ratios: machines differ.",
        "",
        *MEANING_OF_SIDES,
        "",
        table(rounds),
        "",
        f"Median ratio: **{ratio(found, OWN):.2f}** in sparkgen's image (goal: at most {GOAL:.2f}), "
        f"**{ratio(found, STOCK):.2f}** in the stock image.",
        "",
        "## Where the time goes",
        "",
        table(ends),
        "",
        *MEANING,
    ]
    return "\n".join(lines) + "\n"


MEANING_OF_SIDES = (
    "- *native* is Spark's own Kubernetes backend, which runs in the stock image.",
    "- *sparkgen (stock image)* is sparkgen with the same image.",
    "- *sparkgen (its image)* is sparkgen with an image from `images/spark-with-runtime`.",
    "  This image adds the runtime to the stock image, and an [archive](../one-image.md) of Spark's classes.",
    "  To make the archive, the build of the image runs an application that does a little of everything; the "
    "archive then contains the classes that this application used.",
    "",
    "Java, Spark, its jars and all settings are the same.",
)

MEANING = (
    "Before the driver's container starts, the kubelet starts the pod.",
    "With sparkgen, the kubelet then also starts two small containers of the pod: `install`, which copies "
    "the scheduler jar, and the allocator.",
    "From the start of the driver's container until the job is done, both cores are busy with the JVMs of "
    "the driver and of two executors.",
    "So this time becomes shorter only if the JVMs have less work.",
    "Spark's own backend needs more time until the driver's pod is created, because it first starts the JVM "
    "of `spark-submit`.",
    "The last seconds pass because the kubelet notices only after a while that a container and a pod have "
    "ended.",
)
