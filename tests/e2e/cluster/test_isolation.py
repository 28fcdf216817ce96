"""Nothing in the cluster can reach, or be reached from, anything outside the machine."""

from __future__ import annotations

import json
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from cluster import network, packets
from cluster.configs import PAUSE_IMAGE
from cluster.handle import Cluster
from cluster.plan import CONTROL_ADDRESS, NAME, NETWORK_NAMESPACES, NODES

pytestmark = pytest.mark.own_cluster

PHYSICAL = {"loopback", "veth", "bridge"}
POD_PORT, SERVICE_PORT, HOST_PORT = 18091, 18092, 18093
ALL_KINDS = {"icmp", "tcp", "udp"}

OUTSIDE = "198.51.100.1"
"""An address that is nobody's (RFC 5737): only the way there is of interest."""


def links(namespace: str | None) -> list[dict[str, object]]:
    """The network links of a namespace (None: the machine's own), as `ip` tells them."""
    prefix = [] if namespace is None else network.enter(namespace)
    done = subprocess.run(
        [*prefix, "ip", "-details", "-json", "link"], capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def kind(link: dict[str, object]) -> str:
    """What a link is: "loopback", "veth", "bridge", or the driver's name."""
    if link.get("link_type") == "loopback":
        return "loopback"
    info = link.get("linkinfo")
    return str(info.get("info_kind", "physical")) if isinstance(info, dict) else "physical"


@pytest.mark.parametrize("namespace", NETWORK_NAMESPACES)
def test_a_namespace_has_only_links_between_namespaces(cluster: Cluster, namespace: str) -> None:
    """No physical device and no tunnel: only loopback, bridges and pairs."""
    assert {kind(link) for link in links(namespace)} <= PHYSICAL


def test_the_machine_holds_no_end_of_a_link(cluster: Cluster) -> None:
    """The machine's own namespace has no bridge of ours, and no pair whose other end is in the cluster."""
    others = {str(link["ifname"]) for link in links(None)}
    assert not others & {network.SWITCH, "cni0", *(node.name for node in NODES)}
    inside = Path("/run/netns")
    own = subprocess.run(["ip", "-json", "netns", "list-id"], capture_output=True, text=True, check=True)
    peers = {str(entry.get("name")) for entry in json.loads(own.stdout or "[]")}
    assert not peers & {path.name for path in inside.iterdir() if path.name in NETWORK_NAMESPACES}


def test_the_machine_has_no_route_to_the_cluster(cluster: Cluster) -> None:
    """No route of the machine names one of the cluster's networks."""
    routes = subprocess.run(
        ["ip", "route", "show", "table", "all"], capture_output=True, text=True, check=True
    )
    assert not [
        line for line in routes.stdout.splitlines() if line.startswith(("10.77.", "10.88.", "10.96."))
    ]


@pytest.mark.parametrize("namespace", NETWORK_NAMESPACES)
def test_every_way_out_ends_at_the_switch(cluster: Cluster, namespace: str) -> None:
    """A node's way out is the control plane's switch, and that namespace has none: packets end there."""
    done = subprocess.run(
        [*network.enter(namespace), "ip", "-json", "route", "show", "default"],
        capture_output=True,
        text=True,
        check=True,
    )
    gateways = [route.get("gateway") for route in json.loads(done.stdout or "[]")]
    assert gateways == ([] if namespace == NETWORK_NAMESPACES[0] else ["10.77.0.1"])


@dataclass(frozen=True, slots=True)
class Server:
    """A pod that takes connections on node1: the command that enters its network, and where it is reached."""

    enter: list[str]
    pod: tuple[str, int]
    service: tuple[str, int]
    host: tuple[str, int]

    @property
    def targets(self) -> list[tuple[str, int]]:
        """Each way to it, and the node and the control plane as such."""
        return [self.pod, self.service, self.host, (NODES[0].address, POD_PORT), (CONTROL_ADDRESS, POD_PORT)]


@pytest.fixture(scope="module")
def server(cluster: Cluster) -> Iterator[Server]:
    """A pod with a web server, a Service and a host port; one for all tests, as a host port is taken once."""
    token = uuid.uuid4().hex
    namespace = f"isolation-{token[:8]}"
    cluster.kubectl("create", "namespace", namespace)
    labels = {"app": "server"}
    container = {
        "name": "main",
        "image": PAUSE_IMAGE,
        "command": ["httpd", "-f", "-p", str(POD_PORT), "-h", "/tmp", "-r", token],  # noqa: S108
        "ports": [{"containerPort": POD_PORT, "hostPort": HOST_PORT}],
    }
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "server", "namespace": namespace, "labels": labels},
            "spec": {
                "nodeName": NODES[0].name,
                "containers": [container],
                "terminationGracePeriodSeconds": 0,
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "server", "namespace": namespace},
            "spec": {"selector": labels, "ports": [{"port": SERVICE_PORT, "targetPort": POD_PORT}]},
        },
    )
    cluster.kubectl("wait", "-n", namespace, "--for=condition=Ready", "pod/server", "--timeout=60s")
    (pod,) = cluster.objects("pods", namespace)
    (service,) = cluster.objects("services", namespace)
    yield Server(
        ["nsenter", f"--target={process_with(token)}", "--net"],
        (pod["status"]["podIP"], POD_PORT),
        (service["spec"]["clusterIP"], SERVICE_PORT),
        (NODES[0].address, HOST_PORT),
    )
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")


def process_with(argument: str) -> str:
    """The number of the process that has this argument."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in file.read_bytes().split(b"\0"):
                return file.parent.name
        except (FileNotFoundError, ProcessLookupError):
            continue
    raise AssertionError(f"no process has the argument {argument}")


def machine_addresses() -> list[str]:
    """The machine's own IPv4 addresses, but for its loopback."""
    done = subprocess.run(
        ["ip", "-4", "-json", "addr", "show", "scope", "global"], capture_output=True, text=True, check=True
    )
    return [entry["local"] for link in json.loads(done.stdout) for entry in link.get("addr_info", [])]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A TCP socket that listens on every address of the machine."""
    with socket.socket() as opened:
        opened.bind(("0.0.0.0", 0))  # noqa: S104 - it is to be reached, if that can be
        opened.listen()
        opened.setblocking(False)
        yield opened


def accepted(listener: socket.socket) -> int:
    """How many connections came in since it was asked last."""
    count = 0
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def kinds(seen: list[packets.Packet]) -> set[str]:
    """The protocols of packets."""
    return {packet.protocol for packet in seen}


def test_no_packet_leaves_the_cluster(cluster: Cluster, server: Server, listener: socket.socket) -> None:
    """From control plane, node and pod, neither the machine nor an address outside gets a packet."""
    marker, port = uuid.uuid4().hex, listener.getsockname()[1]
    own = [(address, port) for address in machine_addresses()]
    assert own, "this machine has no address but its loopback: nothing could be proven"

    with packets.watched([], marker, [port]) as seen:
        assert packets.probe([], marker, own) == set(own)
    assert kinds(seen) == ALL_KINDS, "the watcher misses what the machine sends to itself"
    assert accepted(listener) == len(own)

    inside = {
        "control plane": network.enter(NAME),
        "node": network.enter(NODES[0].network_namespace),
        "pod": server.enter,
    }
    for name, enter in inside.items():
        with packets.watched([], marker, [port]) as seen:
            assert packets.probe(enter, marker, [*own, (OUTSIDE, port)]) == set(), name
        assert seen == [], name
    assert accepted(listener) == 0


def test_no_packet_enters_the_cluster(cluster: Cluster, server: Server) -> None:
    """From the machine, no pod, service, node, host port or control plane gets a packet."""
    marker, ports = uuid.uuid4().hex, (POD_PORT, SERVICE_PORT, HOST_PORT)
    places = {name: network.enter(name) for name in NETWORK_NAMESPACES} | {"pod": server.enter}

    def arrived(enter: list[str]) -> tuple[dict[str, list[packets.Packet]], set[tuple[str, int]]]:
        with ExitStack() as stack:
            seen = {
                name: stack.enter_context(packets.watched(place, marker, ports))
                for name, place in places.items()
            }
            connected = packets.probe(enter, marker, server.targets)
        return seen, connected

    seen, connected = arrived(network.enter(NODES[1].network_namespace))
    assert connected == {server.pod, server.service, server.host}
    assert {name: kinds(found) for name, found in seen.items()} == dict.fromkeys(places, ALL_KINDS)

    seen, _ = arrived([])
    assert seen == {name: [] for name in places}
