"""The cluster as values: names, addresses and folders. Nothing here touches the machine.

Addresses (all inside network namespaces without an uplink):

    10.77.0.1       control plane: API server, CoreDNS; its bridge `switch` is the nodes' network
    10.77.0.11, 12  node1, node2
    10.88.N.0/24    pods of node N
    10.96.0.0/16    services; 10.96.0.1 the API server, 10.96.0.10 DNS
    10.99.0.0/16    what kwok's pods claim to have
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

NAME = os.environ.get("SPARKGEN_CLUSTER", "sparkgen-cluster")
"""The name of all that the cluster makes: namespaces start with it, folders and cgroups are called so.

Clusters with other names run beside this one: the addresses are the same, the namespaces are not.
"""

CONTROL_ADDRESS = "10.77.0.1"
NODE_NETWORK = "10.77.0.0/24"
POD_NETWORK = "10.88.0.0/16"
SERVICE_NETWORK = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"
KWOK_NETWORK = "10.99.0.0/16"
API_SERVER = f"https://{CONTROL_ADDRESS}:6443"


@dataclass(frozen=True, slots=True)
class Node:
    """A real node: its number (1, 2, ...) decides all the rest."""

    number: int

    @property
    def name(self) -> str:
        """The node's name in Kubernetes."""
        return f"node{self.number}"

    @property
    def address(self) -> str:
        """Its address on the control plane's switch."""
        return f"10.77.0.{10 + self.number}"

    @property
    def pods(self) -> str:
        """The addresses of its pods."""
        return f"10.88.{self.number}.0/24"

    @property
    def network_namespace(self) -> str:
        """The name of its network namespace."""
        return f"{NAME}-{self.name}"


NODES = (Node(1), Node(2))
NETWORK_NAMESPACES = (NAME, *(node.network_namespace for node in NODES))


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are, below one folder (`root`) that `down` removes whole."""

    root: Path

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.root / "pki"

    @property
    def pids(self) -> Path:
        """One file for each process."""
        return self.root / "pids"

    @property
    def logs(self) -> Path:
        """One file for each process."""
        return self.root / "log"

    @property
    def etcd(self) -> Path:
        """The data of etcd."""
        return self.root / "etcd"

    @property
    def audit_log(self) -> Path:
        """One line of JSON for each call of a service account."""
        return self.root / "log" / "audit.log"

    @property
    def stamp(self) -> Path:
        """What the cluster was made from; see lifecycle.Stamp."""
        return self.root / "stamp.json"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.root / "admin.kubeconfig"

    def config(self, name: str) -> Path:
        """A configuration file of the control plane."""
        return self.root / name

    def node(self, node: Node) -> Path:
        """The folder that holds what the node sees as its own /var, /mnt and /srv."""
        return self.root / "nodes" / node.name

    def node_var(self, node: Node) -> Path:
        """What the node sees as /var."""
        return self.node(node) / "var"


LAYOUT = Layout(Path("/var/lib") / NAME)
LOCK = Path("/run") / f"{NAME}.lock"
