"""`make bench-cluster`, submissions: how long many applications, applied at once, take until all drivers run.

sparkgen is measured in each of its ways: its own `apply`, with its preflight and without, and one kubectl
that applies what it renders; rendering is in the time of all three. The kubeflow spark-operator is given as
many custom resources by one kubectl. Drivers go to nodes that kwok pretends to be: what is measured is the
way to the driver's pod, and not what two cores can run. All sides in turn, after one application of each.
"""

from __future__ import annotations

import compileall
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench.cluster import api_server_cpu
from bench.folders import FOLDER, ROOT
from bench.pages import Page, by_round, median
from bench.pod_watch import Pods
from bench.programs import MEMORY, PI, SPARKGEN, application, apply
from cluster import fakes
from cluster.handle import Cluster
from cluster.images import REPOSITORY
from common.cachedir import ToolError
from common.command import run
from common.process_usage import children_cpu_seconds
from gotools import gotools
from spark import spark_operator
from spark.spark_operator import Operator
from sparkgen import contract

RESULTS = FOLDER / "submissions.md"
GOAL = 100
"""Times the operator, until all drivers run."""
SECONDS = 300.0
ROLE = {"cores": 1, "memory": MEMORY}
OPERATOR = "spark-operator"


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds from the command to all drivers' pods there, and Running; seconds of CPU.

    `cpu`: of all that turns documents into pods but the API server and Kubernetes' controllers.
    """

    created: float
    running: float
    cpu: float
    api_server_cpu: float


Round = dict[str, Result]
"""Side -> its result: OPERATOR, and one for each of WAYS."""
Submit = Callable[[Cluster, str], None]
"""Bring documents (their text) to a cluster."""
Side = Callable[[str], Result]
"""Bring applications to a namespace."""


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`; 1 when the goal is missed."""
    parser = bench_cluster.parser(__doc__, RESULTS, rounds=3)
    parser.add_argument(
        "--applications",
        type=int,
        default=20,
        help="number of applications that are applied at once (default 20)",
    )
    options = parser.parse_args(arguments)
    version, count = options.version, options.applications
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, version, options.rounds, count),
        lambda found: page(found, version, count),
        _reached,
        applications=count,
    )


def measured(cluster: Cluster, home: Path, version: str, rounds: int, count: int) -> list[Round]:
    """The rounds, after one application of each side that is not counted."""
    gotools.ensure("spark-operator")
    # As pip and uv leave it; a checkout stays uncompiled where PYTHONDONTWRITEBYTECODE is set.
    compileall.compile_dir(ROOT / "sparkgen", quiet=1)
    with fakes.added(1), spark_operator.running(cluster, home) as operator:
        first, sides = (_sides(cluster, operator, version, number) for number in (1, count))
        bench_cluster.rounds(cluster, first, 1, "one application, ")
        return bench_cluster.rounds(cluster, sides, rounds, f"{count} applications, ")


def _sides(cluster: Cluster, operator: Operator, version: str, count: int) -> Mapping[str, Side]:
    """What brings so many applications to a namespace, by the name of the side."""
    sides: dict[str, Side] = {
        way: partial(sparkgen, cluster, submit, version, count) for way, submit in WAYS.items()
    }
    sides[OPERATOR] = partial(kubeflow, cluster, operator, version, count)
    return sides


def sparkgen(cluster: Cluster, submit: Submit, version: str, count: int, namespace: str) -> Result:
    """By one of WAYS."""
    text = documents(version, count, namespace)
    return _timed(cluster, namespace, count, partial(submit, cluster, text), children_cpu_seconds)


def documents(version: str, count: int, namespace: str) -> str:
    """So many documents for sparkgen, as one stream."""
    role = {**ROLE, **fakes.PLACE}
    spec: dict[str, Any] = {
        "runtimeImage": contract.RUNTIME_IMAGE,
        "driver": role,
        "executor": {**role, "instances": 1},
    }
    found = [application(namespace, version, name=f"pi-{number}", **spec) for number in range(count)]
    return "\n---\n".join(map(json.dumps, found))


def render_and_kubectl(cluster: Cluster, text: str) -> None:
    """By `sparkgen render - | kubectl apply --server-side -f -`."""
    rendered = run(SPARKGEN, "render", "-q", "-", input_text=text)
    cluster.kubectl("apply", "--server-side", "-f", "-", input_text=rendered)


WAYS: dict[str, Submit] = {
    "sparkgen apply": apply,
    "sparkgen apply --skip-preflight": lambda cluster, text: apply(cluster, text, "--skip-preflight"),
    "sparkgen render | kubectl apply": render_and_kubectl,
}
"""All of sparkgen's, the one that the page is about first."""


def kubeflow(cluster: Cluster, operator: Operator, version: str, count: int, namespace: str) -> Result:
    """By custom resources, and the operator's spark-submit for each."""
    template = {"spec": {**fakes.PLACE, "containers": [{"name": "spark-kubernetes-driver"}]}}
    spec = {
        "type": "Python",
        "mode": "cluster",
        "sparkVersion": version,
        "image": f"{REPOSITORY}:{version}",
        "imagePullPolicy": "IfNotPresent",
        "mainApplicationFile": PI,
        "restartPolicy": {"type": "Never"},
        "driver": {**ROLE, "template": template},
        "executor": {**ROLE, "instances": 1},
    }
    names = [f"pi-{number}" for number in range(count)]
    text = "\n---\n".join(json.dumps(spark_operator.application(name, namespace, spec)) for name in names)

    def submit() -> None:
        operator.check()
        cluster.kubectl("apply", "--server-side", "-f", "-", input_text=text)

    def used() -> float:
        operator.settle()
        return children_cpu_seconds() + operator.cpu()

    return _timed(cluster, namespace, count, submit, used)


def _timed(
    cluster: Cluster, namespace: str, count: int, submit: Callable[[], None], cpu: Callable[[], float]
) -> Result:
    """Submit, and wait until so many drivers run."""
    drivers = Pods(cluster, namespace, "spark-role=driver")
    used, served = cpu(), api_server_cpu()
    began = datetime.now(UTC)
    submit()
    ran = drivers.wait_running(count, SECONDS)
    served, used = api_server_cpu() - served, cpu() - used
    drivers.close()
    if not ran:
        raise ToolError(f"{len(drivers.running)} of {count} drivers run after {SECONDS:.0f} s")
    seen, running = max(drivers.seen.values()), max(drivers.running.values())
    return Result((seen - began).total_seconds(), (running - began).total_seconds(), used, served)


# --- the page ---------------------------------------------------------------------------------------


COLUMNS = ("created", "running", "cpu", "api_server_cpu")


def ratio(found: Sequence[Round], way: str, what: str = "running") -> float:
    """The median of how many times as much the operator took."""
    return statistics.median(float(getattr(one[OPERATOR], what) / getattr(one[way], what)) for one in found)


def page(found: Sequence[Round], version: str, count: int) -> str:
    """The page: the medians, and the rounds."""
    page = Page(RESULTS.name)
    page.say("# ", f"{count} applications applied at once")
    page.say(
        "This page compares how long it takes until ",
        f"{count} drivers run, with sparkgen and with the kubeflow spark-operator.",
    )
    page.setting(
        f"Spark {version}, kubeflow spark-operator {spark_operator.version()}, "
        "the test cluster of this repository"
    )
    page.rows(_row(found, side) for side in (*WAYS, OPERATOR))
    page.say(
        "Goal: until all drivers run, spark-operator takes ",
        f"at least {GOAL} times as long as the fastest of sparkgen's ways; "
        f"this goal was {'reached' if _reached(found) else 'missed'}.",
    )
    page.rows(
        by_round(
            [f"{one[side].created:.2f} s, {one[side].running:.2f} s" for side in (*WAYS, OPERATOR)]
            for one in found
        ),
        number=1,
    )
    return page.text()


def _reached(found: Sequence[Round]) -> bool:
    return max(ratio(found, way) for way in WAYS) >= GOAL


def _row(found: Sequence[Round], side: str) -> tuple[str, ...]:
    cells = [median((getattr(one[side], what) for one in found), 2) for what in COLUMNS]
    return side, *cells, *(f"{ratio(found, side, what):.0f}" for what in ("running", "cpu"))
