"""Network namespaces: one for the control plane, with a bridge as a switch, and one for each node.

None of them has an uplink: no end of their links is in the machine's own namespace.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.plan import NAME, NETWORK_NAMESPACES, NODES, USED, Family, Node
from common.command import run

FOLDER = Path("/run/netns")
SWITCH = "switch"
CLONE_NEWNET = 0x40000000
"""The flag of setns(2) for the descriptor of a network namespace."""


def exists(namespace: str) -> bool:
    """Whether the namespace exists."""
    return (FOLDER / namespace).exists()


def enter(namespace: str) -> list[str]:
    """The prefix of a command that is to run in the namespace.

    It is not `ip netns exec`, which mounts a new /sys, in which the kubelet finds no cgroups.
    """
    return ["nsenter", f"--net={FOLDER / namespace}"]


def make() -> None:
    """Create the namespaces and links that are missing."""
    if not exists(NAME):
        _make_control()
    for node in NODES:
        if not exists(node.network_namespace):
            _make_node(node)


def _make_control() -> None:
    ip = ("ip", "-n", NAME)
    run("ip", "netns", "add", NAME)
    run(*ip, "link", "set", "lo", "up")
    run(*ip, "link", "add", SWITCH, "type", "bridge")
    run(*ip, "link", "set", SWITCH, "up")
    for family in USED:
        add_address(NAME, family, family.control, SWITCH)
    _forward(NAME)


def _make_node(node: Node) -> None:
    name = node.network_namespace
    control, own = ("ip", "-n", NAME), ("ip", "-n", name)
    run("ip", "netns", "add", name)
    run(*own, "link", "set", "lo", "up")
    # Both ends are created inside, so they are never in the machine's own namespace.
    run(*control, "link", "add", node.name, "type", "veth", "peer", "name", "eth0", "netns", name)
    run(*control, "link", "set", node.name, "master", SWITCH)
    run(*control, "link", "set", node.name, "up")
    run(*own, "link", "set", "eth0", "up")
    for family in USED:
        add_address(name, family, node.address_in(family), "eth0")
        add_route(name, family, family.everywhere, family.control)
        for other in NODES:
            if other != node:
                add_route(name, family, other.pods_in(family), other.address_in(family))
        add_route(NAME, family, node.pods_in(family), node.address_in(family))
    _forward(name)


def add_address(namespace: str, family: Family, address: str, link: str) -> None:
    """Add an address on the switch's network to a link of a namespace."""
    # IPv6 uses a new address only after a second in which no other machine claims it: not needed here.
    options = ["nodad"] if family.version == 6 else []
    prefixed = family.with_prefix(address)
    run("ip", f"-{family.version}", "-n", namespace, "addr", "add", prefixed, "dev", link, *options)


def add_route(namespace: str, family: Family, destination: str, gateway: str) -> None:
    """Add a route of a namespace to `destination` through `gateway`."""
    run("ip", f"-{family.version}", "-n", namespace, "route", "replace", destination, "via", gateway)


def _forward(namespace: str) -> None:
    for family in USED:
        setting = "net.ipv4.ip_forward" if family.version == 4 else "net.ipv6.conf.all.forwarding"
        run(*enter(namespace), "sysctl", "-qw", f"{setting}=1")


def remove() -> None:
    """Remove all existing namespaces of this cluster, and so their links."""
    for namespace in reversed(NETWORK_NAMESPACES):
        if exists(namespace):
            run("ip", "netns", "delete", namespace)


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Move this thread, and the processes that it starts, to the namespace: its connections are made there.

    Other threads stay in their namespace. Raises OSError if there is no such namespace.
    """
    with Path("/proc/thread-self/ns/net").open("rb") as own, (FOLDER / namespace).open("rb") as other:
        _set_namespace(other.fileno())
        try:
            yield
        finally:
            _set_namespace(own.fileno())


def _set_namespace(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)  # os.setns exists only since Python 3.12
    if libc.setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
