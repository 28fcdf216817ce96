"""The cluster as values: names, addresses and folders. This module does not change the machine.

Addresses (all inside network namespaces without an uplink), of one IP version or of both:

    10.77.0.1       fd00:10:77::1      control plane: API server, CoreDNS; its bridge `switch` joins the nodes
    10.77.0.11, 12  fd00:10:77::b, c   node1, node2
    10.88.N.0/24    fd00:10:88:N::/64  pods of node N
    10.96.0.0/16    fd00:10:96::/112   services; the first is the API server, the tenth DNS
    10.99.0.0/16    fd00:10:99::/64    addresses of kwok's pods, which do not really exist
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

FAMILY = os.environ.get("SPARKGEN_FAMILY") or "ipv4"
"""The sort of addresses of pods and services: a key of `FAMILIES`."""


@dataclass(frozen=True, slots=True)
class Family:
    """The cluster's networks of one IP version."""

    version: int
    everywhere: str
    """All addresses, as the destination of a route."""
    nodes: str
    pods: str
    pods_of_a_node: int
    """The prefix length of the pods of one node."""
    services: str
    fakes: str

    @property
    def control(self) -> str:
        """The control plane's address."""
        return self.node_address(1)

    @property
    def api_service(self) -> str:
        """The address of the API server's Service."""
        return str(ipaddress.ip_network(self.services)[1])

    @property
    def dns_service(self) -> str:
        """The address of the Service of the name server."""
        return str(ipaddress.ip_network(self.services)[10])

    def node_address(self, number: int) -> str:
        """The address with this number on the control plane's switch."""
        return str(ipaddress.ip_network(self.nodes)[number])

    def with_prefix(self, address: str) -> str:
        """An address on the switch with its prefix length, as `ip addr add` needs it."""
        return f"{address}/{ipaddress.ip_network(self.nodes).prefixlen}"

    def node_pods(self, number: int) -> str:
        """The addresses of the pods of a node."""
        network = ipaddress.ip_network(self.pods)
        first = network[number << (network.max_prefixlen - self.pods_of_a_node)]
        return f"{first}/{self.pods_of_a_node}"


IPV4 = Family(
    version=4,
    everywhere="0.0.0.0/0",
    nodes="10.77.0.0/24",
    pods="10.88.0.0/16",
    pods_of_a_node=24,
    services="10.96.0.0/16",
    fakes="10.99.0.0/16",
)
IPV6 = Family(
    version=6,
    everywhere="::/0",
    nodes="fd00:10:77::/64",
    pods="fd00:10:88::/48",
    pods_of_a_node=64,
    services="fd00:10:96::/112",
    fakes="fd00:10:99::/64",
)
FAMILIES = {"ipv4": (IPV4,), "ipv6": (IPV6,), "dual": (IPV4, IPV6)}
"""The IP versions of each sort of cluster. The first is for `status.podIP`, and for Services by default."""

USED = FAMILIES.get(FAMILY, (IPV4,))
"""The IP versions of this cluster. (requirements.explain refuses an unknown family.)"""
PRIMARY = USED[0]

NAME = os.environ.get("SPARKGEN_CLUSTER", "sparkgen-cluster") + ("" if FAMILY == "ipv4" else f"-{FAMILY}")
"""The name of all that the cluster creates: it is the prefix of namespaces, and names folders and cgroups.

Clusters with other names can run at the same time: they have equal addresses in different namespaces.
"""

CONTROL_ADDRESS = PRIMARY.control
CONTROL_HOST = f"[{CONTROL_ADDRESS}]" if PRIMARY is IPV6 else CONTROL_ADDRESS
"""The control plane's address, as written in URLs and image names."""
POD_NETWORK = ",".join(family.pods for family in USED)
SERVICE_NETWORK = ",".join(family.services for family in USED)
API_SERVICE = PRIMARY.api_service
DNS_SERVICE = PRIMARY.dns_service
API_SERVER = f"https://{CONTROL_HOST}:6443"


@dataclass(frozen=True, slots=True)
class Node:
    """A real node: its number (1, 2, ...) determines everything else."""

    number: int

    @property
    def name(self) -> str:
        """The node's name in Kubernetes."""
        return f"node{self.number}"

    @property
    def address(self) -> str:
        """Its address on the control plane's switch, in the first IP version."""
        return self.address_in(PRIMARY)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Its address in each IP version."""
        return tuple(self.address_in(family) for family in USED)

    def address_in(self, family: Family) -> str:
        """Its address in one IP version."""
        return family.node_address(10 + self.number)

    def pods_in(self, family: Family) -> str:
        """The addresses of its pods."""
        return family.node_pods(self.number)

    @property
    def network_namespace(self) -> str:
        """The name of its network namespace."""
        return f"{NAME}-{self.name}"


NODES = (Node(1), Node(2))
NETWORK_NAMESPACES = (NAME, *(node.network_namespace for node in NODES))


@dataclass(frozen=True, slots=True)
class Layout:
    """The cluster's files, all below one folder (`root`), which `down` removes completely."""

    root: Path

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.root / "pki"

    @property
    def pids(self) -> Path:
        """The folder with a pid file for each process."""
        return self.root / "pids"

    @property
    def logs(self) -> Path:
        """The folder with a log for each process."""
        return self.root / "log"

    @property
    def etcd(self) -> Path:
        """The data of etcd."""
        return self.root / "etcd"

    @property
    def audit_log(self) -> Path:
        """The audit log: one line of JSON for each call of a service account."""
        return self.root / "log" / "audit.log"

    @property
    def stamp(self) -> Path:
        """The file with the cluster's stamp; see lifecycle.Stamp."""
        return self.root / "stamp.json"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.root / "admin.kubeconfig"

    def config(self, name: str) -> Path:
        """A configuration file of the control plane."""
        return self.root / name

    def node(self, node: Node) -> Path:
        """The folder with the folders that are the node's /var, /mnt and /srv."""
        return self.root / "nodes" / node.name

    def node_var(self, node: Node) -> Path:
        """The folder that is the node's /var."""
        return self.node(node) / "var"


LAYOUT = Layout(Path("/var/lib") / NAME)
LOCK = Path("/run") / f"{NAME}.lock"
