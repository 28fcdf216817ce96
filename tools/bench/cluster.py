"""What benchmarks on the test cluster share: options, rounds, namespaces, and submissions by Spark."""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from bench import pages
from bench.programs import MEMORY, PI
from cluster import accounts, audit, control, lifecycle, lock, network, processes, requirements
from cluster.audit import Call
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from cluster.plan import API_SERVER, LAYOUT, LOCK, NAME
from common.cachedir import ToolError
from common.command import run, tells_errors
from common.process_usage import cpu_seconds
from spark import spark_home

SECONDS = 300.0
Result = TypeVar("Result")


def parser(description: str | None, page: Path, rounds: int) -> argparse.ArgumentParser:
    """The options that benchmarks on the test cluster have in common."""
    made = pages.parser(description, page, rounds)
    made.add_argument(
        "--version", default=TESTED_VERSIONS[-1], help="Spark version (default: the newest tested)"
    )
    return made


@tells_errors
def measure(
    options: argparse.Namespace,
    results: Path,
    measured: Callable[[Cluster, Path], Result],
    page: Callable[[Result], str],
    reached: Callable[[Result], bool] = lambda _: True,
    indent: int | None = 1,
    **more: object,
) -> int:
    """Measure on the test cluster, with a Spark at hand, and print the page. Returns the exit code.

    It is 1 when the measurement fails, which is said, or when the goal is not reached. With --write, the page
    is kept, and beside it the rounds, the version, and `more`, and a picture of those if there is one.
    """
    requirements.check()
    home = spark_home.ensure(options.version)
    with held(f"make bench-{results.stem}", options.version) as cluster:
        found = measured(cluster, home)
    data = {**more, "version": options.version, "rounds": found}
    pages.show(results, page(found), data, write=options.write, indent=indent)
    return 0 if reached(found) else 1


@contextmanager
def held(what: str, version: str) -> Iterator[Cluster]:
    """The running cluster, for the command `what` alone, with the images that a benchmark needs."""
    with lock.held(LOCK, what):
        lifecycle.up()
        cluster = Cluster(LAYOUT.kubeconfig, own=True)
        cluster.load_runtime()
        cluster.load_spark([version])
        yield cluster


def rounds(
    cluster: Cluster,
    sides: Mapping[str, Callable[[str], Result]],
    count: int,
    title: str = "",
    seconds: float = 180.0,
    *,
    turning: bool = False,
) -> list[dict[str, Result]]:
    """Rounds with each side once, in a namespace of its own; `turning`: each begins with another side.

    Each result is told, after `title`. A namespace is gone within the seconds.
    """
    found = []
    for number in range(count):
        first = number % len(sides) if turning else 0
        made = {}
        for name in (*list(sides)[first:], *list(sides)[:first]):
            made[name] = in_namespace(cluster, sides[name], seconds)
            print(f"{title}round {number + 1}, {name}: {made[name]}", file=sys.stderr, flush=True)
        found.append({name: made[name] for name in sides})
    return found


def in_namespace(cluster: Cluster, run: Callable[[str], Result], seconds: float = 180.0) -> Result:
    """What a run in a namespace of its own came to; the namespace is gone, within the seconds, after it."""
    namespace = f"bench-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", namespace)
    try:
        return run(namespace)
    finally:
        cluster.kubectl("delete", "namespace", namespace, seconds=seconds)


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
    run(*command, failed="spark-submit failed", environment=environment)
    return began


def finished(cluster: Cluster, namespace: str, began: float) -> float:
    """Wait for the driver's pod to succeed. Returns the seconds since; ToolError when it does not."""
    looks = ("get", "pods", "-n", namespace, "-l", "spark-role=driver", "--watch")
    with cluster.following(*looks, "-o", "jsonpath={.status.phase}{'\\n'}", seconds=SECONDS) as phases:
        for phase in phases:
            if phase == "Succeeded":
                return time.time() - began
            if phase == "Failed":
                break
    raise ToolError(f"the driver did not succeed:\n{cluster.kubectl('get', 'pods', '-n', namespace)}")


def driver_log(cluster: Cluster, namespace: str, *options: str) -> str:
    """The log of the one driver in a namespace."""
    (pod,) = cluster.objects("pods", namespace, "spark-role=driver")
    name = pod["metadata"]["name"]
    return cluster.kubectl("logs", "-n", namespace, name, "-c", "spark-kubernetes-driver", *options)


def calls_since(offset: int, namespace: str) -> list[Call]:
    """The calls about a namespace in the audit log, from so many bytes on."""
    with LAYOUT.audit_log.open() as lines:
        lines.seek(offset)
        return [call for call in audit.parse(lines) if call.namespace == namespace]


def creates_executor(call: Call) -> bool:
    """Whether a call creates an executor, whatever came of it; a driver is created by others."""
    return (call.verb, call.resource, call.subresource) == ("create", "pods", "") and "-exec-" in call.name


def api_server_cpu() -> float:
    """Seconds of CPU that the API server has used."""
    pid = processes.read(control.pid_file(LAYOUT, "kube-apiserver"))
    if pid is None:
        raise ToolError("the API server is not running")
    return cpu_seconds(pid.pid)
