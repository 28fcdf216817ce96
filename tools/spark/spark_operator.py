"""The kubeflow spark-operator's controller beside the cluster: what submissions are measured beside.

It is built from its module (tools/go/spark-operator) and runs as a process of this machine in the cluster's
network, with the settings of its chart's defaults and without its webhooks. Beside the benchmark, one test
has it, which takes minutes: tests/e2e/import/test_beside_the_operator.py.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster import network, processes
from cluster.handle import Cluster
from cluster.plan import API_SERVER, CONTROL_ADDRESS, LAYOUT, NAME
from common.cachedir import ToolError
from common.command import wait_for
from common.process_usage import cpu_seconds
from gotools import gotools

NAMESPACE = "spark-operator"
FLAGS = (
    # What the chart passes by default (values.yaml of v2.5.2), but for leader election and ports: it is one.
    *("--controller-threads=10", "--enable-ui-service=true", "--leader-election=false"),
    *("--workqueue-ratelimiter-bucket-qps=50", "--workqueue-ratelimiter-bucket-size=500"),
    *("--workqueue-ratelimiter-max-delay=6h", "--driver-pod-creation-grace-period=10s"),
    *("--max-tracked-executor-per-app=1000", "--kube-api-qps=20", "--kube-api-burst=30"),
    "--health-probe-bind-address=0",
)


def version() -> str:
    """The version that is pinned."""
    pin = gotools.read_module(gotools.find_tool("spark-operator"))
    return pin.version_of("github.com/kubeflow/spark-operator/v2")


@dataclass(frozen=True, slots=True)
class Operator:
    """A running controller."""

    process: subprocess.Popen[bytes]

    def check(self) -> None:
        """ToolError when it has ended."""
        if self.process.poll() is not None:
            raise ToolError(f"the operator has ended with {self.process.returncode}")

    def settle(self, seconds: float = 60) -> None:
        """Wait until what it has started has ended, for a time at most: its CPU counts from then on."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        wait_for(lambda: not any((task / "children").read_text() for task in tasks.iterdir()), seconds)

    def cpu(self) -> float:
        """Seconds of CPU that it and what it has started, and seen end, have used."""
        return cpu_seconds(self.process.pid, children=True)


@contextmanager
def running(cluster: Cluster, home: Path) -> Iterator[Operator]:
    """The controller and its custom resources; `home` is the SPARK_HOME of its spark-submit."""
    command = gotools.ensure("spark-operator")
    crds = gotools.source("spark-operator") / "config" / "crd" / "bases"
    _remove(cluster, crds)
    try:
        cluster.kubectl("apply", "--server-side", "-f", str(crds))
        cluster.kubectl("wait", "--for=condition=established", "--timeout=60s", "-f", str(crds))
        kubeconfig = _account(cluster)
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "KUBECONFIG": str(kubeconfig),
            "KUBERNETES_SERVICE_HOST": CONTROL_ADDRESS,
            "KUBERNETES_SERVICE_PORT": API_SERVER.rpartition(":")[2],
        }
        log = LAYOUT.logs / "spark-operator.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [*network.enter(NAME), str(command), "controller", "start", *FLAGS],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            yield Operator(process)
        except ToolError as error:
            raise ToolError(f"{error}\nThe operator's log ends with:\n{processes.last_lines(log)}") from None
        finally:
            process.terminate()
            process.wait(30)
    finally:
        _remove(cluster, crds)


def _remove(cluster: Cluster, crds: Path) -> None:
    """Remove what this makes in the cluster, or an earlier run that was killed left there."""
    for what in (["-f", str(crds)], ["namespace", NAMESPACE], ["clusterrolebinding", NAMESPACE]):
        cluster.try_kubectl("delete", "--ignore-not-found", *what)


def _account(cluster: Cluster) -> Path:
    """A kubeconfig of an account that may do everything; both client-go and spark-submit can read it."""
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.kubectl("create", "serviceaccount", NAMESPACE, "-n", NAMESPACE)
    grant = ("--clusterrole=cluster-admin", f"--serviceaccount={NAMESPACE}:{NAMESPACE}")
    cluster.kubectl("create", "clusterrolebinding", NAMESPACE, *grant)
    token = cluster.kubectl("create", "token", NAMESPACE, "-n", NAMESPACE, "--duration=2h").strip()
    authority = base64.b64encode((LAYOUT.pki / "ca.crt").read_bytes()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "c", "cluster": {"server": API_SERVER, "certificate-authority-data": authority}}
        ],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = LAYOUT.root / "spark-operator.kubeconfig"
    path.write_text(json.dumps(config))
    path.chmod(0o600)
    return path


def application(name: str, namespace: str, spec: dict[str, Any]) -> dict[str, Any]:
    """A SparkApplication of the operator's."""
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": metadata,
        "spec": spec,
    }
