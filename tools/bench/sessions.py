"""`make bench-sessions`: how long a session's first result takes, on the test cluster.

Each round has every side once, in an order that moves on by one, so that a noisy minute treats all alike: a
Connect server of sparkgen, one of the kubeflow spark-operator, `spark-submit` in client mode, and `sparkgen
shell`. All have the same Spark, image, sizes, dynamic allocation, and the same program of a client
(jobs/first_result.py), which runs in the network of a node.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench.folders import FOLDER, ROOT
from bench.pages import Page, median
from bench.programs import SPARKGEN, apply
from bench.programs import document as bench_document
from cluster import accounts, network, processes
from cluster.handle import Cluster
from cluster.images import REPOSITORY
from cluster.plan import API_SERVER, LAYOUT, NODES
from common.cachedir import ToolError
from common.command import wait_for
from common.process_usage import most_memory
from spark import connect_client, spark_home, spark_operator
from spark.spark_operator import Operator
from sparkgen import contract

RESULTS = FOLDER / "sessions.md"
JOB = ROOT / "tools" / "bench" / "jobs" / "first_result.py"
SECONDS = 180.0
PORT = 15002
EXECUTORS = 2
"""At most; none at first."""
IDLE_SECONDS = 10
"""After which an executor without work goes, whatever it has shuffled."""
SETTLE_SECONDS = 3
"""From the last executor's container to the next session: until the executor's JVM has started as well."""
CORE_REQUEST = "100m"
MEMORY = {"driver": "1g", "executor": "600m"}
CLIENT = NODES[0]
"""The node in whose network clients run."""

SPARKGEN_CONNECT, KUBEFLOW_CONNECT = "sparkgen's Connect server", "kubeflow's Connect server"
SPARKGEN_SHELL, SPARK_SUBMIT = "sparkgen shell", "spark-submit"
COLD, WARM, HOT = "cold", "warm, no executor", "warm, executors up"


@dataclass(frozen=True, slots=True)
class Session:
    """One session: seconds from the command (cold) or the client's start (warm) to its first result.

    `opening`: until the client began to open it. `pods`: what is there for it beside executors; `memory`: the
    most that their processes have had resident, in MiB; `client` and `operator`: those of these. `load`: the
    machine's, of a minute, at the end.
    """

    wall: float
    opening: float
    pods: int
    memory: float
    client: float
    load: float
    operator: float = 0.0


Round = Mapping[str, Session]
"""By the names in CASES."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every side needs."""

    cluster: Cluster
    home: Path
    version: str
    operator: Operator


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    parser = bench_cluster.parser(__doc__, RESULTS, rounds=5)
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="start no round after this many minutes (default 60)"
    )
    options = parser.parse_args(arguments)
    version = options.version
    enough = Enough(options.rounds, options.minutes)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, version, enough),
        lambda found: page(found, version),
    )


@dataclass(frozen=True, slots=True)
class Enough:
    """How many rounds, and after how many minutes no other begins."""

    rounds: int
    minutes: float


def measured(cluster: Cluster, home: Path, version: str, enough: Enough) -> list[Round]:
    """The rounds; each begins with another side."""
    connect_client.folder()
    found: list[Round] = []
    with spark_operator.running(cluster, home) as operator:
        bench = Bench(cluster, home, version, operator)
        last = time.monotonic() + 60 * enough.minutes
        while len(found) < enough.rounds and (not found or time.monotonic() < last):
            found.append(one_round(bench, len(found)))
    return found


def one_round(bench: Bench, number: int) -> Round:
    """Every side once."""
    first = number % len(SIDES)
    found: dict[str, Session] = {}
    for side in (*SIDES[first:], *SIDES[:first]):
        found |= bench_cluster.in_namespace(bench.cluster, partial(side, bench))
    for name in CASES:
        print(f"round {number + 1}, {name}: {found[name]}", file=sys.stderr, flush=True)
    return {name: found[name] for name in CASES}


# --- the sides --------------------------------------------------------------------------------------


def sparkgen_connect(bench: Bench, namespace: str) -> Round:
    """A Connect server by `sparkgen apply`."""
    began = time.time()
    apply(bench.cluster, json.dumps(document("SparkConnectServer", bench.version, namespace)))
    return sessions(bench, namespace, SPARKGEN_CONNECT, "bench-connect", began)


def document(kind: str, version: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """The document of a Connect server, or of an application."""
    sizes = {
        role: {"cores": 1, "coreRequest": CORE_REQUEST, "memory": memory} for role, memory in MEMORY.items()
    }
    executors = {
        "enabled": True,
        "minExecutors": 0,
        "maxExecutors": EXECUTORS,
        "executorIdleTimeout": f"{IDLE_SECONDS}s",
        "shuffleTrackingTimeout": f"{IDLE_SECONDS}s",
    }
    more = {"runtimeImage": contract.RUNTIME_IMAGE, "dynamicAllocation": executors, **sizes, **spec}
    return bench_document(kind, namespace, version, "bench", **more)


def kubeflow_connect(bench: Bench, namespace: str) -> Round:
    """A Connect server by a SparkConnect of the operator's."""
    cluster = bench.cluster
    accounts.token(cluster, namespace)
    bench.operator.check()
    text = json.dumps(spark_connect(bench.version, namespace))
    began = time.time()
    cluster.kubectl("apply", "--server-side", "-f", "-", input_text=text)
    found = sessions(bench, namespace, KUBEFLOW_CONNECT, "bench-server", began)
    cold = f"{KUBEFLOW_CONNECT}, {COLD}"
    own = most_resident(lambda folder: folder.name == str(bench.operator.process.pid))
    # Its server's shell does not hear that it is to end: the namespace would wait for half a minute.
    cluster.kubectl("delete", "sparkconnect", "bench", "-n", namespace)
    cluster.try_kubectl("delete", "pod", "bench-server", "-n", namespace, "--grace-period=1")
    return {**found, cold: replace(found[cold], operator=own)}


def spark_connect(version: str, namespace: str) -> dict[str, Any]:
    """The operator's custom resource, of the same server."""
    image = {"image": f"{REPOSITORY}:{version}", "imagePullPolicy": "IfNotPresent"}
    requests = {"cpu": CORE_REQUEST, "memory": "1408Mi"}
    driver = {
        **image,
        "name": "spark-kubernetes-driver",
        "resources": {"requests": requests, "limits": {"memory": requests["memory"]}},
    }
    executor = {**image, "name": "spark-kubernetes-executor"}
    return {
        "apiVersion": "sparkoperator.k8s.io/v1alpha1",
        "kind": "SparkConnect",
        "metadata": {"name": "bench", "namespace": namespace},
        "spec": {
            "sparkVersion": version,
            "image": image["image"],
            "sparkConf": {
                "spark.kubernetes.executor.request.cores": CORE_REQUEST,
                # The operator has the driver bind to 0.0.0.0, to which this would send the executors.
                "spark.kubernetes.executor.useDriverPodIP": "false",
                **idle(),
            },
            "dynamicAllocation": {"enabled": True, "minExecutors": 0, "maxExecutors": EXECUTORS},
            "server": {
                "cores": 1,
                "memory": MEMORY["driver"],
                "template": {"spec": {"serviceAccountName": "spark", "containers": [driver]}},
            },
            "executor": {
                "cores": 1,
                "memory": MEMORY["executor"],
                "template": {"spec": {"containers": [executor]}},
            },
        },
    }


def idle() -> dict[str, str]:
    """When executors go, as Spark's properties."""
    names = ("executorIdleTimeout", "shuffleTracking.timeout")
    return {f"spark.dynamicAllocation.{name}": f"{IDLE_SECONDS}s" for name in names}


def spark_submit(bench: Bench, namespace: str) -> Round:
    """`spark-submit` in client mode; its driver is a process in the network of a node."""
    word = accounts.token(bench.cluster, namespace)
    token = LAYOUT.root / f"{namespace}.token"
    token.touch(0o600)
    token.write_text(word)
    conf = {
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.container.image": f"{REPOSITORY}:{bench.version}",
        "spark.kubernetes.executor.request.cores": CORE_REQUEST,
        "spark.kubernetes.authenticate.caCertFile": str(LAYOUT.pki / "ca.crt"),
        "spark.kubernetes.authenticate.oauthTokenFile": str(token),
        "spark.driver.host": CLIENT.address,
        "spark.driver.memory": MEMORY["driver"],
        "spark.executor.memory": MEMORY["executor"],
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": str(EXECUTORS),
        **idle(),
    }
    options = [f"--conf={name}={value}" for name, value in conf.items()]
    command = [str(bench.home / "bin" / "spark-submit"), f"--master=k8s://{API_SERVER}", *options, str(JOB)]
    variables = {"SPARK_HOME": str(bench.home), "KUBECONFIG": os.devnull, "PYSPARK_PYTHON": sys.executable}
    try:
        with client(command, variables) as running:
            return {SPARK_SUBMIT: running.session(bench.cluster, namespace)}
    finally:
        token.unlink()


def sparkgen_shell(bench: Bench, namespace: str) -> Round:
    """`sparkgen shell`; its driver is a process in the network of a node, too."""
    path = LAYOUT.root / f"{namespace}.yaml"
    more = {"type": "Python", "mainApplicationFile": "local:///unused.py"}
    path.write_text(json.dumps(document("SparkApplication", bench.version, namespace, **more)))
    options = ["-q", f"--kubeconfig={bench.cluster.kubeconfig}", f"--driver-host={CLIENT.address}"]
    command = [SPARKGEN, "shell", *options, str(path), "--", sys.executable, str(JOB)]
    variables = {"SPARK_HOME": str(bench.home), "PYTHONPATH": spark_home.release(bench.home).python_path}
    try:
        with client(command, variables) as running:
            return {SPARKGEN_SHELL: running.session(bench.cluster, namespace)}
    finally:
        path.unlink()


def sessions(bench: Bench, namespace: str, side: str, service: str, began: float) -> Round:
    """The three sessions of a server that was applied at the time `began`."""
    remote = f"sc://{_address(bench.cluster, namespace, service)}:{PORT}"
    cold = _session(bench, namespace, remote, began)
    _await_executors(bench.cluster, namespace, EXECUTORS)
    time.sleep(SETTLE_SECONDS)
    if not executors(bench.cluster, namespace):
        raise ToolError("the executors ended before the next session started")
    with_executors = _session(bench, namespace, remote)
    _await_executors(bench.cluster, namespace, 0)
    without = _session(bench, namespace, remote)
    return {
        f"{side}, {COLD}": cold,
        f"{side}, {WARM}": without,
        f"{side}, {HOT}": with_executors,
    }


def _session(bench: Bench, namespace: str, remote: str, began: float | None = None) -> Session:
    """One session of the thin client."""
    variables = {
        "PYTHONPATH": str(connect_client.folder()),
        "SPARK_REMOTE": remote,
        "SPARK_CONNECT_MODE_ENABLED": "1",
        "SPARK_HOME": str(bench.home),
    }
    with client([sys.executable, str(JOB)], variables, began) as running:
        return running.session(bench.cluster, namespace)


# --- what they are measured with --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Client:
    """A running client of a session, whose command was given at the time `began`; `log`: what it says."""

    process: subprocess.Popen[str]
    began: float
    log: Path

    def session(self, cluster: Cluster, namespace: str) -> Session:
        """Its session, when it has ended well."""
        lines = self.process.stdout or ()
        line = next((line for line in lines if line.startswith('{"opening"')), "")
        own = most_resident(lambda folder: _session_of(folder) == self.process.pid)
        serving = [pod for pod in cluster.objects("pods", namespace) if not _is_executor(pod)]
        uids = [pod["metadata"]["uid"] for pod in serving]
        memory = most_resident(lambda folder: any(uid in (folder / "cgroup").read_text() for uid in uids))
        if self.process.wait(SECONDS) or not line:
            pods = cluster.kubectl("get", "pods", "-n", namespace, "-o", "wide")
            said = processes.last_lines(self.log)
            raise ToolError(f"a client ended with {self.process.returncode}:\n{said}\n{pods}")
        times = json.loads(line)
        opening, wall = times["opening"] - self.began, times["result"] - self.began
        return Session(wall, opening, len(serving), memory, own, os.getloadavg()[0])


@contextmanager
def client(
    command: Sequence[str], variables: Mapping[str, str], began: float | None = None
) -> Iterator[Client]:
    """A client in the network of a node, started now or as a part of what began before; ended at the end."""
    log = LAYOUT.root / f"{JOB.stem}.log"
    with log.open("w") as errors:
        began = began or time.time()
        process = subprocess.Popen(
            ["timeout", str(SECONDS), *network.enter(CLIENT.network_namespace), *command],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    with process:
        try:
            yield Client(process, began, log)
        finally:
            process.terminate()


def most_resident(chosen: Callable[[Path], bool]) -> float:
    """The most memory that each process chosen by its folder in /proc has had, summed up, in MiB."""
    found = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            found += most_memory(int(folder.name)) if chosen(folder) else 0
    return found


def _session_of(folder: Path) -> int:
    """The number of a process's session."""
    return int((folder / "stat").read_text().rpartition(")")[2].split()[3])


def _address(cluster: Cluster, namespace: str, service: str) -> str:
    """The address of a Service, as soon as it is there."""
    looks = ("get", "services", "-n", namespace, "--watch", "-o")
    words = "jsonpath={.metadata.name} {.spec.clusterIP}{'\\n'}"
    with cluster.following(*looks, words, seconds=SECONDS) as lines:
        for line in lines:
            name, _, address = line.partition(" ")
            if name == service:
                return address
    raise ToolError(f"there is no Service {service}")


def _is_executor(pod: Mapping[str, Any]) -> bool:
    return bool(pod["metadata"].get("labels", {}).get("spark-role") == "executor")


def executors(cluster: Cluster, namespace: str) -> list[str]:
    """The phases of the executors' pods."""
    return [pod["status"]["phase"] for pod in cluster.objects("pods", namespace) if _is_executor(pod)]


def _await_executors(cluster: Cluster, namespace: str, count: int) -> None:
    """Until so many executors run, and there is no other."""
    if not wait_for(lambda: executors(cluster, namespace) == ["Running"] * count, seconds=SECONDS, pause=0.5):
        raise ToolError(f"fewer than {count} executors after {SECONDS:.0f} s")


SIDES: tuple[Callable[[Bench, str], Round], ...] = (
    sparkgen_connect,
    kubeflow_connect,
    spark_submit,
    sparkgen_shell,
)
CASES = (
    f"{SPARKGEN_CONNECT}, {COLD}",
    f"{KUBEFLOW_CONNECT}, {COLD}",
    SPARKGEN_SHELL,
    SPARK_SUBMIT,
    f"{SPARKGEN_CONNECT}, {WARM}",
    f"{KUBEFLOW_CONNECT}, {WARM}",
    f"{SPARKGEN_CONNECT}, {HOT}",
    f"{KUBEFLOW_CONNECT}, {HOT}",
)
"""What is told of each round, in the order of the page: what begins with nothing first."""


# --- the page ---------------------------------------------------------------------------------------

RATIOS = (
    (f"{SPARKGEN_CONNECT}, {COLD}", f"{KUBEFLOW_CONNECT}, {COLD}"),
    (f"{SPARKGEN_CONNECT}, {WARM}", f"{KUBEFLOW_CONNECT}, {WARM}"),
    (f"{SPARKGEN_CONNECT}, {HOT}", f"{KUBEFLOW_CONNECT}, {HOT}"),
    (SPARKGEN_SHELL, SPARK_SUBMIT),
    (f"{SPARKGEN_CONNECT}, {COLD}", SPARK_SUBMIT),
    (f"{SPARKGEN_CONNECT}, {WARM}", SPARK_SUBMIT),
)
"""What is compared: the first over the second."""


def ratios(found: Sequence[Round], case: str, other: str) -> list[float]:
    """How many times as long as another a case took, in each round."""
    return [one[case].wall / one[other].wall for one in found]


def page(found: Sequence[Round], version: str) -> str:
    """The page: the medians with their ranges, the ratios, and the rounds."""
    thin, *_ = connect_client.REQUIREMENTS
    page = Page(RESULTS.name)
    page.setting(
        f"Spark {version}, kubeflow spark-operator {spark_operator.version()}, {thin.replace('==', ' ')}, "
        "the test cluster of this repository"
    )
    page.say("The numbers are medians of ", f"{len(found)} rounds, with the minimum and the maximum.")
    page.rows(_row(found, name) for name in CASES)
    page.rows((_ratio_row(found, case, other) for case, other in RATIOS), number=1)
    most = max(one[f"{KUBEFLOW_CONNECT}, {COLD}"].operator for one in found)
    page.say("The operator itself took ", f"{most:.0f} MiB at most; a cluster needs one operator.")
    loads = [session.load for one in found for session in one.values()]
    page.say(
        "The load average of the whole machine was ",
        f"{statistics.median(loads):.0f} ({min(loads):.0f} to {max(loads):.0f}) on {os.cpu_count()} cores.",
    )
    rounds = ((name, *(f"{one[name].wall:.1f}" for one in found)) for name in CASES)
    page.rows(rounds, number=2, head=("", *(str(number) for number in range(1, len(found) + 1))))
    return page.text()


def _row(found: Sequence[Round], name: str) -> tuple[str, ...]:
    sessions = [one[name] for one in found]
    return (
        name,
        _range([one.wall for one in sessions]),
        _range([one.opening for one in sessions]),
        _range([one.wall - one.opening for one in sessions]),
        str(max(one.pods for one in sessions)),
        median((one.memory for one in sessions), 0),
        median((one.client for one in sessions), 0),
    )


def _range(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _ratio_row(found: Sequence[Round], case: str, other: str) -> tuple[str, ...]:
    values = ratios(found, case, other)
    each = ", ".join(f"{value:.2f}" for value in values)
    return f"{case} / {other}", f"**{statistics.median(values):.2f}**", each
