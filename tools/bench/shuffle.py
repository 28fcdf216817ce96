"""`make bench-shuffle`: executor-seconds of a job with idle gaps: a shuffle service or shuffle tracking.

Both sides run the same job (bench/jobs/idle_gaps.py) with the same dynamic allocation, in turn, A B A B,
so that a noisy machine treats both alike. Without a service, executors that hold shuffle files have to
stay (shuffle tracking); with it they go, and come back for the next read. Executor-seconds are the time
that executor pods were there, added up; they are sampled from the API server, and drawn.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench import cluster as bench_cluster
from bench import programs
from bench.folders import FOLDER, ROOT
from bench.pages import Page, by_round
from bench.plots import area
from cluster.handle import Cluster
from common.cachedir import ToolError

RESULTS = FOLDER / "shuffle.md"
JOB = ROOT / "tools" / "bench" / "jobs" / "idle_gaps.py"
SERVICE, SECRET = "shuffle", "shuffle-secret"
GOAL = 0.6
SECONDS = 900.0
IDLE_SECONDS = 5
SIDES = ("service", "tracking")


@dataclass(frozen=True, slots=True)
class Job:
    """What is run: Spark's version, executors at most, pauses, and the seconds of each."""

    version: str
    executors: int
    pauses: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """One application. `samples`: (seconds since it was submitted, executor pods that are there)."""

    wall: float
    samples: tuple[tuple[float, int], ...]

    @property
    def executor_seconds(self) -> float:
        """The time that executor pods were there, added up."""
        return area(self.samples)


Round = dict[str, Run]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the page, and keep it with its data and plot; 1 when the goal is missed."""
    parser = bench_cluster.parser(__doc__, RESULTS, rounds=3)
    parser.add_argument("--pauses", type=int, default=2, help="number of pauses in a job (default 2)")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of each pause (default 60)")
    parser.add_argument("--executors", type=int, default=2, help="maximum number of executors (default 2)")
    options = parser.parse_args(arguments)
    job = Job(options.version, options.executors, options.pauses, options.seconds)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, _: bench_cluster.in_namespace(
            cluster, lambda name: rounds(cluster, name, job, options.rounds)
        ),
        lambda found: page(found, job),
        lambda found: ratio(found) <= GOAL,
        indent=None,
        job=job,
    )


def rounds(cluster: Cluster, namespace: str, job: Job, count: int) -> list[Round]:
    """The rounds, with a service that is ready before the first one."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": namespace}}
    cluster.apply({**secret, "stringData": {"secret": namespace}})
    programs.put(cluster, namespace, JOB)
    programs.apply_rendered(cluster, service(namespace, job.version))
    cluster.kubectl(
        "rollout", "status", f"daemonset/{SERVICE}", "-n", namespace, "--timeout=300s", seconds=320
    )
    found = []
    for number in range(1, count + 1):
        both = {side: run(cluster, namespace, f"{side}-{number}", side, job) for side in SIDES}
        walls = ", ".join(f"{side} {made.executor_seconds:.0f}" for side, made in both.items())
        print(f"round {number}: executor-seconds {walls}", file=sys.stderr)
        found.append(both)
    return found


def directory(namespace: str) -> str:
    """The service's directory on the nodes."""
    return f"/var/lib/sparkgen/shuffle/{namespace}"


def service(namespace: str, version: str) -> dict[str, Any]:
    """The shuffle service's document."""
    return programs.document(
        "SparkShuffleService",
        *(namespace, version, SERVICE),
        imagePullPolicy="IfNotPresent",
        secretName=SECRET,
        directories=[directory(namespace)],
        memory="256m",
        resources={"requests": {"cpu": "50m"}},
    )


def application(namespace: str, name: str, side: str, job: Job) -> dict[str, Any]:
    """The application's document; the sides differ in one field."""
    of_service = {
        "name": SERVICE,
        "mode": "daemonset",
        "secretName": SECRET,
        "directories": [directory(namespace)],
    }
    spec = {
        "imagePullPolicy": "IfNotPresent",
        "arguments": [str(job.pauses), f"{job.seconds:g}"],
        "sparkConf": {
            "spark.dynamicAllocation.executorIdleTimeout": f"{IDLE_SECONDS}s",
            # The job begins with the first executor: while it waited for the others it would be idle.
            "spark.scheduler.minRegisteredResourcesRatio": "0",
        },
        "dynamicAllocation": {
            "enabled": True,
            "minExecutors": 0,
            "initialExecutors": job.executors,
            "maxExecutors": job.executors,
        },
        **({"shuffleService": of_service} if side == "service" else {}),
    }
    return programs.mounted(namespace, job.version, JOB, name, **spec)


def run(cluster: Cluster, namespace: str, name: str, side: str, job: Job) -> Run:
    """Run an application, and count its executors until its driver has succeeded. ToolError when it fails."""
    programs.apply_rendered(cluster, application(namespace, name, side, job))
    began, samples = time.monotonic(), [(0.0, 0)]
    while True:
        pods = cluster.objects("pods", namespace, f"sparkgen.dev/application={name}")
        moment = time.monotonic() - began
        roles = [(pod["metadata"]["labels"]["spark-role"], pod["status"].get("phase")) for pod in pods]
        samples.append((round(moment, 2), sum(1 for role, phase in roles if _is_there(role, phase))))
        phases = {phase for role, phase in roles if role == "driver"}
        if "Succeeded" in phases:
            return Run(round(moment, 2), tuple(samples))
        if "Failed" in phases or moment > SECONDS:
            raise ToolError(f"{name} did not succeed:\n{cluster.kubectl('get', 'pods', '-n', namespace)}")
        time.sleep(0.3)


def _is_there(role: str, phase: str | None) -> bool:
    return role == "executor" and phase in ("Pending", "Running")


def ratio(found: Sequence[Round]) -> float:
    """The median of the rounds' shares."""
    return statistics.median(map(share, found))


def share(both: Round) -> float:
    """The service's executor-seconds over shuffle tracking's."""
    return both["service"].executor_seconds / both["tracking"].executor_seconds


def page(found: Sequence[Round], job: Job) -> str:
    """The page of results."""
    page = Page(RESULTS.name)
    page.setting(f"Spark {job.version}, the test cluster of two nodes")
    page.say(
        "The job writes a shuffle and reads it ",
        f"{job.pauses + 1} times, with {job.pauses} pauses of {job.seconds:g} s between the reads.\n"
        f"Dynamic allocation uses 0 to {job.executors} executors, which may leave when idle for "
        f"{IDLE_SECONDS} s.",
        lines=2,
    )
    page.say(
        "**The service takes ",
        f"{ratio(found):.2f} of the executor-seconds that shuffle tracking takes** "
        f"(median of {len(found)}; the goal is at most {GOAL}).",
    )
    page.rows(
        by_round(
            [
                *(f"{each[side].executor_seconds:.0f}" for side in SIDES),
                f"{share(each):.2f}",
                *(f"{each[side].wall:.0f} s" for side in SIDES),
            ]
            for each in found
        )
    )
    return page.text()
