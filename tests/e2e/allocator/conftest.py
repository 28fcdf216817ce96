"""A KubernetesBackend as the allocator has it: a driver's pod, its account with the rendered rights, a token.

The tests run inside the cluster's network namespace, as a pod would, and talk to its API server themselves.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from cluster import configs, network
from cluster.handle import Cluster
from cluster.plan import CONTROL_ADDRESS, LAYOUT, NAME
from sparkgen import contract
from sparkgen.resources.object_layers import ALLOCATOR_RULES
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.values.attempt import Attempt, new_attempt
from sparkgen.runtime.kubernetes.access import Access
from sparkgen.runtime.kubernetes.transport import Transport

ACCOUNT = "pi"
CLONE_NEWNET = 0x40000000


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Have the thread, and those that it starts, in a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as home, (network.FOLDER / namespace).open() as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), namespace)
        try:
            yield
        finally:
            libc.setns(home.fileno(), CLONE_NEWNET)


def small_pod(name: str, container: str) -> dict[str, Any]:
    """A pod that costs next to nothing, and ends at once when it is told to."""
    return {
        "metadata": {"name": name, "labels": {"spark-role": "executor"}},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 2,
            "containers": [
                {
                    "name": container,
                    "image": configs.PAUSE_IMAGE,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sh", "-c", "trap 'exit 143' TERM; sleep 600 & wait"],
                }
            ],
        },
    }


@dataclass
class Clock:
    """A clock that a test can put forward."""

    ahead: float = 0.0

    def __call__(self) -> float:
        """Now."""
        return time.monotonic() + self.ahead


@dataclass
class Trial:
    """What a test holds: the KubernetesBackend, and whose it is."""

    cluster: Cluster
    namespace: str
    attempt: Attempt
    access: Access
    kube: KubernetesBackend
    clock: Clock = field(default_factory=Clock)

    def another(
        self, template: dict[str, Any] | None = None, read_timeout: float = 30.0
    ) -> KubernetesBackend:
        """A KubernetesBackend of the same attempt, with another template or less patience."""
        return make_kube(self.access, self.attempt, self.clock, template, read_timeout)

    def pods(self) -> list[dict[str, Any]]:
        """The executor pods that are there."""
        return self.cluster.objects("pods", self.namespace, self.attempt.selector)

    def bind(self) -> None:
        """Give the account its rights."""
        self.cluster.apply(role_binding(self.namespace))


def make_kube(
    access: Access,
    attempt: Attempt,
    clock: Callable[[], float],
    template: dict[str, Any] | None = None,
    read_timeout: float = 30.0,
) -> KubernetesBackend:
    """A KubernetesBackend, with small executors unless a template is given."""
    template = template or small_pod("unnamed", contract.EXECUTOR_CONTAINER)
    transport = Transport(access, read_timeout=read_timeout)
    return KubernetesBackend(transport, attempt, template, clock=clock, wall=time.time, random=random.random)


def role_binding(namespace: str) -> dict[str, Any]:
    """The rendered RoleBinding's meaning."""
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": ACCOUNT, "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    }


@pytest.fixture
def unbound(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Trial]:
    """A driver's pod and its account, which has no rights yet."""
    metadata = {"name": ACCOUNT, "namespace": namespace}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": [dict(rule) for rule in ALLOCATOR_RULES],
    }
    driver = {"apiVersion": "v1", "kind": "Pod", **small_pod("pi-1a2b3c4d-driver", contract.DRIVER_CONTAINER)}
    driver["metadata"] = {"name": "pi-1a2b3c4d-driver", "namespace": namespace}
    # Never scheduled: it is there to own executors.
    driver["spec"]["schedulingGates"] = [{"name": "sparkgen.dev/test"}]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    cluster.apply(account, role, driver)
    token = cluster.kubectl("create", "token", ACCOUNT, "-n", namespace)
    (tmp_path / "token").write_text(token)
    uid = json.loads(cluster.kubectl("get", "pod", "pi-1a2b3c4d-driver", "-n", namespace, "-o", "json"))[
        "metadata"
    ]["uid"]
    attempt = new_attempt("pi", "pi-1a2b3c4d", namespace, "pi-1a2b3c4d-driver", uid, "10.88.1.5")
    access = Access(CONTROL_ADDRESS, 6443, tmp_path / "token", LAYOUT.pki / "ca.crt")
    clock = Clock()
    with inside(NAME):
        trial = Trial(cluster, namespace, attempt, access, make_kube(access, attempt, clock), clock)
        yield trial
        trial.kube.close()


@pytest.fixture
def trial(unbound: Trial) -> Trial:
    """A driver's pod and its account, with the rendered rights in force."""
    unbound.bind()
    wait_until(
        lambda: unbound.cluster.try_kubectl(
            "auth", "can-i", "watch", "pods", "-n", unbound.namespace,
            f"--as=system:serviceaccount:{unbound.namespace}:{ACCOUNT}",
        ).returncode == 0,
        "the rights hold",
    )  # fmt: skip
    return replace(unbound)


def wait_until(condition: Callable[[], object], what: str, seconds: float = 30) -> None:
    """Wait until a condition holds."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not after {seconds} s: {what}"
        time.sleep(0.2)
