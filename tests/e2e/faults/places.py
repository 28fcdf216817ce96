"""Where a test's pods may go: it moves them by opening nodes."""

from __future__ import annotations

from cluster.handle import Cluster
from cluster.plan import NODES

SPOT = "sparkgen.dev/spot"
"""A label of nodes: a test moves pods by moving it."""


class Nodes:
    """Where pods may go: those with `at("a")` as nodeSelector go to the nodes that are opened for it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def at(self, spot: str) -> dict[str, str]:
        """The nodeSelector of a spot."""
        return {f"{SPOT}-{spot}": "open"}

    def open(self, node: str, spot: str) -> None:
        """Let the spot's pods onto a node."""
        self._cluster.kubectl("label", "node", node, f"{SPOT}-{spot}=open")

    def ready(self, node: str) -> bool:
        """Whether the control plane counts the node as well."""
        path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
        return self._cluster.try_kubectl("get", "node", node, "-o", path).stdout == "True"

    def reset(self) -> None:
        """Take every spot back, and let pods onto all nodes."""
        for node in NODES:
            labels = [f"{SPOT}-{spot}-" for spot in ("driver", "executor")]
            self._cluster.try_kubectl("label", "node", node.name, *labels)
            self._cluster.try_kubectl("uncordon", node.name)
