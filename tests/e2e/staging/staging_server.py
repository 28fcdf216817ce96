"""A SparkStagingServer of tests: rendered and applied, with two replicas on each side, TLS and passwords."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import yaml

from cluster import certificates, registry
from cluster.certificates import Certificate
from cluster.handle import Cluster
from cluster.plan import LAYOUT, NODES
from cluster.registry_client import Client
from sparkgen.model import describe
from sparkgen.resources import render

NODE = NODES[0]
"""The claim is a folder of it: all pods of the server run there."""
PULL_PORT, PUSH_PORT = 30500, 30501


@dataclass(frozen=True, slots=True)
class Staging:
    """A server of a test: its namespace, and the namespace of applications that use it."""

    cluster: Cluster
    namespace: str
    users: str

    def client(self, side: str, user: str = "", password: str = "") -> Client:
        """A client of one side, by the node's port: with a password of `registry.PASSWORDS`, or this one."""
        port = {"pull": PULL_PORT, "push": PUSH_PORT}[side]
        known = registry.PASSWORDS[user][0] if user else ""
        return Client(f"{NODE.address}:{port}", LAYOUT.pki / "ca.crt", user, password or known)

    def client_of(self, pod: str, side: str, user: str) -> Client:
        """A client of one pod, whose certificate is that of the node's address."""
        known = self.client(side, user)
        path = "jsonpath={.status.podIP}"
        address = self.cluster.kubectl("get", "pod", pod, "-n", self.namespace, "-o", path)
        return Client(f"{address}:5000", known.authority, known.user, known.password, name=NODE.address)

    def pods(self, side: str) -> list[str]:
        """The names of the running pods of a side."""
        found = self.cluster.objects("pods", self.namespace, f"sparkgen.dev/staging-side={side}")
        return [pod["metadata"]["name"] for pod in found if not pod["metadata"].get("deletionTimestamp")]

    def rollout(self) -> None:
        """Wait until both sides have all their pods."""
        for name in ("staging", "staging-push"):
            self.cluster.kubectl(
                *("rollout", "status", f"deployment/{name}", "-n", self.namespace, "--timeout=90s"),
                seconds=100,
            )

    def apply(self, **over: Any) -> None:
        """Apply the document, with these fields of its spec instead."""
        rendered = render(describe({**_document(self), "spec": {**_document(self)["spec"], **over}}))
        self.cluster.apply(*rendered)
        self.rollout()


def _document(staging: Staging) -> dict[str, Any]:
    text = f"""
apiVersion: sparkgen.dev/v1alpha1
kind: SparkStagingServer
metadata: {{name: staging, namespace: {staging.namespace}}}
spec:
  imagePullPolicy: IfNotPresent
  replicas: 2
  storage: {{claim: staging}}
  credentials: {{secretName: staging}}
  tls: {{secretName: staging-tls}}
  pull: {{serviceType: NodePort, nodePort: {PULL_PORT}}}
  push: {{serviceType: NodePort, nodePort: {PUSH_PORT}}}
  nodeSelector: {{kubernetes.io/hostname: {NODE.name}}}
  garbageCollection: {{namespaces: [{staging.users}], graceSeconds: 0, suspend: true}}
"""
    return dict(yaml.safe_load(text))


def secrets(namespace: str, pull: str = "reader") -> list[dict[str, Any]]:
    """Its certificate, and its passwords: that of the user `pull` for pods, and that of team-a for pushes."""
    certificates.issue(LAYOUT.pki, Certificate("staging", "/CN=staging", (f"IP:{NODE.address}",)))
    pair = {f"tls.{kind}": (LAYOUT.pki / f"staging.{kind}").read_text() for kind in ("crt", "key")}
    users = {"pull": registry.htpasswd(pull), "push": registry.htpasswd("team-a")}
    given: dict[str, tuple[str, dict[str, str]]] = {
        "staging-tls": ("kubernetes.io/tls", pair),
        "staging": ("Opaque", {**users, "uploads": "random of a test"}),
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace},
            "type": kind,
            "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
        }
        for name, (kind, data) in given.items()
    ]


def claim(namespace: str) -> list[dict[str, Any]]:
    """A claim for many pods: a folder of one node, as the cluster has no storage that nodes share."""
    spec = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": namespace},
        "spec": {
            **spec,
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": f"/srv/{namespace}", "type": "DirectoryOrCreate"},
            "persistentVolumeReclaimPolicy": "Retain",
        },
    }
    wanted = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "staging", "namespace": namespace},
        "spec": {**spec, "volumeName": namespace, "resources": {"requests": {"storage": "1Gi"}}},
    }
    return [volume, wanted]
