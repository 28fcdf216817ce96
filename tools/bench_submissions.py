"""`make bench-cluster`, submissions: many applications applied at once, until all their drivers run.

sparkgen renders all documents in one call and applies them with one kubectl; the kubeflow spark-operator is
given as many custom resources by one kubectl. Drivers of both go to nodes that kwok pretends to be: what is
measured is the way to the driver's pod, and not what two cores can run. A, B, A, B, after one of each alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import bench_cluster
import gotools
import spark_home
import spark_operator
from bench_executors import SELECTOR, api_server_cpu
from cachedir import ToolError
from cluster import fakes, requirements
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from pod_watch import Pods
from spark_operator import Operator

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "benchmarks" / "submissions.md"
DATA = RESULTS.with_suffix(".json")
GOAL = 100
"""Times the operator, until all drivers run."""
SECONDS = 300.0
ROLE = {"cores": 1, "memory": "600m"}


@dataclass(frozen=True, slots=True)
class Result:
    """Seconds from the command to all drivers' pods there, and Running; seconds of CPU.

    `cpu`: of all that turns documents into pods but the API server and Kubernetes' controllers.
    """

    created: float
    running: float
    cpu: float
    api_server_cpu: float


Rounds = list[tuple[Result, Result]]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="pairs (default 3)")
    parser.add_argument("--applications", type=int, default=20, help="at once (default 20)")
    parser.add_argument("--version", default=TESTED_VERSIONS[-1], help="Spark (default the newest tested)")
    parser.add_argument("--write", action="store_true", help=f"keep it in {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    try:
        requirements.check()
        home = spark_home.ensure(options.version)
        gotools.ensure("spark-operator")
        with bench_cluster.held("make bench-cluster", options.version) as cluster:
            found = measured(cluster, home, options.version, options.rounds, options.applications)
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = page(found, options.version, options.applications)
    print(text)
    if options.write:
        RESULTS.write_text(text)
        rounds = [{"sparkgen": asdict(ours), "spark-operator": asdict(theirs)} for ours, theirs in found]
        kept = {"applications": options.applications, "version": options.version, "rounds": rounds}
        DATA.write_text(json.dumps(kept, indent=1) + "\n")
    return 0 if ratio(found, "running") >= GOAL else 1


def measured(cluster: Cluster, home: Path, version: str, rounds: int, count: int) -> Rounds:
    """Pairs of results, after one application of each that is not counted."""
    fakes.add(1)
    try:
        with spark_operator.running(cluster, home) as operator:
            pairs = []
            for number in range(rounds + 1):
                several = count if number else 1
                ours = bench_cluster.in_namespace(cluster, partial(sparkgen, cluster, version, several))
                theirs = bench_cluster.in_namespace(
                    cluster, partial(kubeflow, cluster, operator, version, several)
                )
                print(f"round {number}: sparkgen {ours}, operator {theirs}", file=sys.stderr, flush=True)
                pairs.append((ours, theirs))
            return pairs[1:]
    finally:
        fakes.remove()


def sparkgen(cluster: Cluster, version: str, count: int, namespace: str) -> Result:
    """By `sparkgen render - | kubectl apply --server-side -f -`."""
    role = {**ROLE, "nodeSelector": SELECTOR, "tolerations": [fakes.TAINT]}
    documents = [
        {
            "apiVersion": "sparkgen.dev/v1alpha1",
            "kind": "SparkApplication",
            "metadata": {"name": f"pi-{number}", "namespace": namespace},
            "spec": {
                "type": "Python",
                "sparkVersion": version,
                "image": f"{REPOSITORY}:{version}",
                "mainApplicationFile": bench_cluster.PI,
                "driver": role,
                "executor": {**role, "instances": 1},
            },
        }
        for number in range(count)
    ]
    text = "\n---\n".join(map(json.dumps, documents))

    def submit() -> None:
        command = [str(Path(sys.executable).with_name("sparkgen")), "render", "-q", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        cluster.kubectl("apply", "--server-side", "-f", "-", input_text=done.stdout)

    return _timed(cluster, namespace, count, submit, _children_cpu)


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
        "mainApplicationFile": bench_cluster.PI,
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
        return _children_cpu() + operator.cpu()

    return _timed(cluster, namespace, count, submit, used)


def _children_cpu() -> float:
    """Seconds of CPU that commands of this process have used, once they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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


def ratio(found: Rounds, what: str) -> float:
    """The median of how many times as long the operator took."""
    times = [float(getattr(theirs, what) / getattr(ours, what)) for ours, theirs in found]
    return statistics.median(times)


def page(found: Rounds, version: str, count: int) -> str:
    """The page: the medians, and the rounds."""
    pin = gotools.read_module(gotools.find_tool("spark-operator"))
    operator = pin.version_of("github.com/kubeflow/spark-operator/v2")
    lines = [
        f"# {count} applications applied at once",
        "",
        f"Spark {version}, kubeflow spark-operator {operator}, the test cluster of this repository, "
        f"{os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}.",
        "Written by `make bench-cluster`; the raw data is in [`submissions.json`](submissions.json).",
        "Seconds from the command until every driver's pod is there, and until it runs; medians of rounds",
        "that took both in turn. The drivers are on nodes that kwok pretends to be. Compare ratios.",
        "",
        "| | sparkgen | operator | times |",
        "|---|---|---|---|",
    ]
    for title, what in ROWS.items():
        ours, theirs = (
            statistics.median(getattr(r, what) for r in side) for side in zip(*found, strict=True)
        )
        lines.append(f"| {title} | {ours:.1f} | {theirs:.1f} | {ratio(found, what):.0f} |")
    lines += [
        "",
        f"Goal: at least {GOAL} times as fast until all run.",
        "",
        "- *sparkgen*: `sparkgen render - | kubectl apply --server-side -f -`, all documents in one call;",
        "  the CPU is that of the two commands.",
        "- *operator*: the custom resources by one `kubectl apply --server-side -f -`. The controller runs",
        "  on this machine with the defaults of its chart (10 workers), and starts a JVM (`spark-submit`)",
        "  for each application: on more cores it takes less time, and as much CPU. The CPU is that of",
        "  kubectl, controller and JVMs.",
        "",
        "| round | sparkgen: there, running | operator: there, running |",
        "|---|---|---|",
    ]
    for number, (mine, other) in enumerate(found, start=1):
        cells = [f"{side.created:.2f} s, {side.running:.2f} s" for side in (mine, other)]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


ROWS: dict[str, Any] = {
    "all drivers' pods there (s)": "created",
    "all drivers Running (s)": "running",
    "CPU of the submission (s)": "cpu",
    "CPU of the API server (s)": "api_server_cpu",
}


if __name__ == "__main__":
    sys.exit(main())
