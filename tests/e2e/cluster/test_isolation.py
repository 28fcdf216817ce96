"""Nothing in the cluster can reach, or be reached from, anything outside the machine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NETWORK_NAMESPACES, NODES

pytestmark = pytest.mark.own_cluster

PHYSICAL = {"loopback", "veth", "bridge"}


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
