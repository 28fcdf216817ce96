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
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench.executors import SELECTOR, api_server_cpu
from bench.pages import FOLDER, ROOT, by_round, median, opening, table
from bench.pod_watch import Pods
from bench.programs import MEMORY, PI, application
from cluster import fakes, network
from cluster.handle import Cluster
from cluster.images import REPOSITORY
from cluster.plan import NAME
from common.cachedir import ToolError
from common.cpu_time import children_cpu_seconds
from gotools import gotools
from spark import spark_operator
from spark.spark_operator import Operator
from sparkgen import contract

RESULTS = FOLDER / "submissions.md"
GOAL = 100
"""Times the operator, until all drivers run."""
SECONDS = 300.0
ROLE = {"cores": 1, "memory": MEMORY}
SPARKGEN = str(Path(sys.executable).with_name("sparkgen"))
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


Round = Mapping[str, Result]
"""Side -> its result: OPERATOR, and one for each of WAYS."""
Submit = Callable[[Cluster, str], None]
"""Bring documents (their text) to a cluster."""


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
    found = bench_cluster.measured(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, version, options.rounds, count),
        lambda found: page(found, version, count),
        lambda found: [{side: asdict(result) for side, result in one.items()} for one in found],
        applications=count,
    )
    return 1 if found is None else int(not _reached(found))


def measured(cluster: Cluster, home: Path, version: str, rounds: int, count: int) -> list[Round]:
    """The rounds, after one application of each side that is not counted."""
    gotools.ensure("spark-operator")
    # As pip and uv leave it; a checkout stays uncompiled where PYTHONDONTWRITEBYTECODE is set.
    compileall.compile_dir(ROOT / "sparkgen", quiet=1)
    fakes.add(1)
    try:
        with spark_operator.running(cluster, home) as operator:
            found = [one_round(cluster, operator, version, count if n else 1) for n in range(rounds + 1)]
            return found[1:]
    finally:
        fakes.remove()


def one_round(cluster: Cluster, operator: Operator, version: str, count: int) -> Round:
    """So many applications by each side, one side after the other."""
    sides: dict[str, Callable[[str], Result]] = {
        way: partial(sparkgen, cluster, submit, version, count) for way, submit in WAYS.items()
    }
    sides[OPERATOR] = partial(kubeflow, cluster, operator, version, count)
    found = {}
    for side, run in sides.items():
        found[side] = bench_cluster.in_namespace(cluster, run)
        print(f"{count} applications, {side}: {found[side]}", file=sys.stderr, flush=True)
    return found


def sparkgen(cluster: Cluster, submit: Submit, version: str, count: int, namespace: str) -> Result:
    """By one of WAYS."""
    text = documents(version, count, namespace)
    return _timed(cluster, namespace, count, partial(submit, cluster, text), children_cpu_seconds)


def documents(version: str, count: int, namespace: str) -> str:
    """So many documents for sparkgen, as one stream."""
    role = {**ROLE, "nodeSelector": SELECTOR, "tolerations": [fakes.TAINT]}
    spec: dict[str, Any] = {
        "runtimeImage": contract.RUNTIME_IMAGE,
        "driver": role,
        "executor": {**role, "instances": 1},
    }
    found = [application(namespace, version, name=f"pi-{number}", **spec) for number in range(count)]
    return "\n---\n".join(map(json.dumps, found))


def apply(*options: str) -> Submit:
    """By one `sparkgen apply` with these options."""

    def submit(cluster: Cluster, text: str) -> None:
        place = f"--kubeconfig={cluster.kubeconfig}"
        command = [*network.enter(NAME), SPARKGEN, "apply", "-q", place, *options, "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ToolError(f"sparkgen apply: {done.stderr.strip()}")

    return submit


def render_and_kubectl(cluster: Cluster, text: str) -> None:
    """By `sparkgen render - | kubectl apply --server-side -f -`."""
    command = [SPARKGEN, "render", "-q", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    cluster.kubectl("apply", "--server-side", "-f", "-", input_text=done.stdout)


WAYS: dict[str, Submit] = {
    "sparkgen apply": apply(),
    "sparkgen apply --skip-preflight": apply("--skip-preflight"),
    "sparkgen render | kubectl apply": render_and_kubectl,
}
"""All of sparkgen's, the one that the page is about first."""


def kubeflow(cluster: Cluster, operator: Operator, version: str, count: int, namespace: str) -> Result:
    """By custom resources, and the operator's spark-submit for each."""
    place = {"nodeSelector": SELECTOR, "tolerations": [fakes.TAINT]}
    template = {"spec": {**place, "containers": [{"name": "spark-kubernetes-driver"}]}}
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


COLUMNS = {
    "pods there (s)": "created",
    "all Running (s)": "running",
    "CPU of the submission (s)": "cpu",
    "CPU of the API server (s)": "api_server_cpu",
}


def ratio(found: Sequence[Round], way: str, what: str = "running") -> float:
    """The median of how many times as much the operator took."""
    return statistics.median(float(getattr(one[OPERATOR], what) / getattr(one[way], what)) for one in found)


def page(found: Sequence[Round], version: str, count: int) -> str:
    """The page: the medians, and the rounds."""
    columns = (
        *COLUMNS,
        "spark-operator's time until all run / this time",
        "spark-operator's CPU of the submission / this CPU",
    )
    rounds = by_round(
        [f"{one.created:.2f} s, {one.running:.2f} s" for one in each.values()] for each in found
    )
    lines = [
        *opening(
            f"{count} applications applied at once",
            f"This page compares how long it takes until {count} drivers run, with sparkgen and with the "
            "kubeflow spark-operator.",
            f"Spark {version}, kubeflow spark-operator {spark_operator.version()}, "
            "the test cluster of this repository",
            *("bench-cluster", "submissions"),
        ),
        "Times are seconds from the command until every driver pod exists, and until every driver pod runs.",
        "The first table has medians of several rounds; in each round, the sides run one after another.",
        "The drivers are on kwok's fake nodes.",
        "Compare ratios: machines differ.",
        "",
        table([("", *columns), *(_row(found, side) for side in (*WAYS, OPERATOR))]),
        "",
        f"Goal: until all drivers run, spark-operator takes at least {GOAL} times as long as the fastest of "
        f"sparkgen's ways; this goal was {'reached' if _reached(found) else 'missed'}.",
        "",
        *WORDS,
        "",
        "The seconds of each round, until all driver pods existed and until all ran:",
        "",
        table([("round", *found[0]), *rounds]),
    ]
    return "\n".join(lines).replace("render | kubectl", "render \\| kubectl") + "\n"


def _reached(found: Sequence[Round]) -> bool:
    return max(ratio(found, way) for way in WAYS) >= GOAL


def _row(found: Sequence[Round], side: str) -> tuple[str, ...]:
    cells = [median((getattr(one[side], what) for one in found), 2) for what in COLUMNS.values()]
    return side, *cells, *(f"{ratio(found, side, what):.0f}" for what in ("running", "cpu"))


WORDS = (
    "- *sparkgen* is one call with all documents on its standard input.",
    "  All three ways include the start of Python, and reading, checking and rendering the documents.",
    "  Only `sparkgen apply` first tries every object in a dry run (its preflight); `--skip-preflight` omits "
    "the preflight.",
    "  `kubectl apply` has the options `--server-side -f -`.",
    "  The CPU is that of the commands.",
    "- *spark-operator* gets the custom resources from one `kubectl apply --server-side -f -`.",
    "  The operator's controller runs on this machine with the defaults of its chart (10 workers), and "
    "starts a JVM (`spark-submit`) for each application.",
    "  On more cores, the JVMs take less time, but use as much CPU.",
    "  The CPU is that of kubectl, controller and JVMs.",
)
