"""A pod for drivers: its network, its account's files and its variables, for processes of this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from deployed import wait_until

from cluster.configs import PAUSE_IMAGE
from cluster.handle import Cluster
from cluster.plan import API_SERVICE

NAME = "workbench"
VARIABLES = {
    "KUBERNETES_SERVICE_HOST": API_SERVICE,
    "KUBERNETES_SERVICE_PORT": "443",
    "KUBECONFIG": "/nowhere",
}
FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
RULES: list[dict[str, list[str]]] = [
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "delete", "list", "patch"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["pods/portforward"], "verbs": ["create", "get"]},
]
"""What docs/client-mode.md names, where somebody else has applied the document."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """A pod in which people work. `enter`: the command before one that is to run as if in it."""

    address: str
    enter: list[str]


def workbench(cluster: Cluster, namespace: str, folder: Path) -> Workbench:
    """A pod whose account has the rights that a session needs, and no other."""
    metadata = {"name": NAME, "namespace": namespace}
    api = "rbac.authorization.k8s.io"
    role = {"apiGroup": api, "kind": "Role", "name": NAME}
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
    mark = f"{NAME}-{namespace}"
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "main",
        "image": PAUSE_IMAGE,
        "env": [{"name": "SPARKGEN_TEST_POD", "value": mark}],
        "securityContext": security,
    }
    cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{api}/v1", "kind": "Role", "metadata": metadata, "rules": RULES},
        {
            "apiVersion": f"{api}/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": role,
            "subjects": [subject],
        },
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}},
    )
    wait_until(lambda: bool(_processes(mark)), 120, f"{NAME} runs")
    account = folder / "account"
    account.mkdir()
    (account / "token").write_text(cluster.kubectl("create", "token", NAME, "-n", namespace).strip())
    (account / "namespace").write_text(namespace)
    trusted = json.loads(
        cluster.kubectl("get", "configmap", "kube-root-ca.crt", "-n", namespace, "-o", "json")
    )
    (account / "ca.crt").write_text(trusted["data"]["ca.crt"])
    mounted = (
        f'mount -t tmpfs tmpfs /run && mkdir -p {FOLDER} && mount --bind {account} {FOLDER} && exec "$@"'
    )
    net = f"--net=/proc/{_processes(mark)[0]}/ns/net"
    enter = ["nsenter", net, "unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh"]
    address = cluster.kubectl("get", "pod", NAME, "-n", namespace, "-o", "jsonpath={.status.podIP}")
    return Workbench(address, enter)


def _processes(mark: str) -> list[int]:
    """The processes that have this value in their environment."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"SPARKGEN_TEST_POD={mark}".encode() in file.read_bytes().split(b"\0"):
                found.append(int(file.parent.name))
        except OSError:
            continue
    return found
