"""Many allocators at once: processes as in drivers' pods, each with its account; executors on fake nodes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster import configs, fakes, network
from cluster.handle import Cluster
from cluster.plan import CONTROL_ADDRESS, LAYOUT, NAME
from sparkgen import contract
from sparkgen.resources.object_layers import ALLOCATOR_RULES
from sparkgen.runtime.allocator.values.attempt import attempt_of

PROGRAM = Path(__file__).with_name("allocator_program.py")
FIRST_PORT = 20000


def executor_template() -> dict[str, Any]:
    """What executors are made of: pods that fake nodes run."""
    return {
        "kind": "PodTemplate",
        "template": {
            "metadata": {"labels": {"spark-role": "executor"}},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                **fakes.PLACE,
                "terminationGracePeriodSeconds": 1,
                "containers": [{"name": contract.EXECUTOR_CONTAINER, "image": "fake"}],
            },
        },
    }


def driver_pod(name: str, namespace: str) -> dict[str, Any]:
    """A pod that is never scheduled: it owns executors."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"spark-role": "driver"}},
        "spec": {
            "schedulingGates": [{"name": "sparkgen.dev/test"}],
            "containers": [{"name": contract.DRIVER_CONTAINER, "image": configs.PAUSE_IMAGE}],
        },
    }


@dataclass
class Fleet:
    """Allocators of `count` applications, called app1, app2, ..., in one namespace."""

    cluster: Cluster
    namespace: str
    folder: Path
    count: int
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The applications' names, which are those of their service accounts, too."""
        return [f"app{number + 1}" for number in range(self.count)]

    def prepare(self, target: int) -> None:
        """Have accounts, rights and drivers' pods, and the volumes of each."""
        metadata = {"name": "allocator", "namespace": self.namespace}
        kind = {"apiVersion": "rbac.authorization.k8s.io/v1"}
        rules = [dict(rule) for rule in ALLOCATOR_RULES]
        accounts = [
            {"kind": "ServiceAccount", "name": name, "namespace": self.namespace} for name in self.names
        ]
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "allocator"}
        self.cluster.apply(
            {**kind, "kind": "Role", "metadata": metadata, "rules": rules},
            {**kind, "kind": "RoleBinding", "metadata": metadata, "roleRef": role, "subjects": accounts},
            *({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "name": name}}
              for name in self.names),
            *(driver_pod(f"{name}-driver", self.namespace) for name in self.names),
        )  # fmt: skip
        with ThreadPoolExecutor(4) as pool:
            tokens = list(
                pool.map(
                    lambda name: self.cluster.kubectl("create", "token", name, "-n", self.namespace),
                    self.names,
                )
            )
        for name, token in zip(self.names, tokens, strict=True):
            self._write(name, token, target)

    def _write(self, name: str, token: str, target: int) -> None:
        folder = self.folder / name
        texts = {
            "account/token": token,
            "account/ca.crt": (LAYOUT.pki / "ca.crt").read_text(),
            "conf/spark-defaults.conf": "spark.authenticate true\n",
            "executor/executor.json": json.dumps(executor_template()),
            "tuning/tuning.json": json.dumps({"version": 1, "executors": {"minimum": 0, "maximum": 1000}}),
        }
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        (folder / "session").mkdir()
        (folder / "target").write_text(str(target))

    def start(self) -> None:
        """Start every allocator."""
        pods = self.cluster.objects("pods", self.namespace, "spark-role=driver")
        uids = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}
        for number, name in enumerate(self.names):
            environment = {
                contract.ENV_CONTRACT: str(contract.VERSION),
                contract.ENV_APPLICATION: name,
                contract.ENV_RUN: name,
                contract.ENV_POD_NAMESPACE: self.namespace,
                contract.ENV_POD_NAME: f"{name}-driver",
                contract.ENV_POD_UID: uids[f"{name}-driver"],
                contract.ENV_POD_IP: "127.0.0.1",
            }
            folder, port = self.folder / name, FIRST_PORT + 3 * number
            command = [*network.enter(NAME), sys.executable, str(PROGRAM), str(folder)]
            with (folder / "log").open("wb") as log:
                self.processes[name] = subprocess.Popen(
                    [*command, CONTROL_ADDRESS, str(port), str(port + 1)],
                    env={**os.environ, **environment},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            assert attempt_of(uids[f"{name}-driver"])

    def want(self, target: int) -> None:
        """Have every driver want so many executors."""
        for name in self.names:
            (self.folder / name / "target").write_text(str(target))

    def registered(self) -> dict[str, int]:
        """How many executors each driver counts on."""
        found = {}
        for name in self.names:
            file = self.folder / name / "registered"
            found[name] = int(file.read_text()) if file.exists() else 0
        return found

    def executors(self) -> list[dict[str, Any]]:
        """The executors' pods that are there."""
        return self.cluster.objects("pods", self.namespace, "spark-role=executor")

    def log(self, name: str) -> str:
        """What an allocator has written."""
        return (self.folder / name / "log").read_text("utf-8", "replace")

    def died(self) -> list[str]:
        """The applications whose allocator has ended."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def tell_to_end(self) -> None:
        """Have every allocator end, as a kubelet does after the driver's end."""
        for process in self.processes.values():
            process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End what still runs."""
        for process in self.processes.values():
            process.kill()
            process.wait()
