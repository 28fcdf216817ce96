"""A machine beside the cluster: on the nodes' network, with an address that pods reach, and no node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cluster import network
from cluster.plan import NAME, PRIMARY, USED
from common.command import run

_NUMBER = 99
ADDRESS = PRIMARY.node_address(_NUMBER)
NAMESPACE = f"{NAME}-laptop"
_LINK = "laptop"
_HARDWARE_ADDRESS = "02:00:0a:4d:00:63"
"""The same each time: nodes that have seen the laptop of the tests before would else look for that one."""


@dataclass(frozen=True, slots=True)
class Laptop:
    """A network namespace with one link to the cluster's switch."""

    @property
    def enter(self) -> list[str]:
        """The command before a command that is to run there."""
        return network.enter(NAMESPACE)

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """The network cable is pulled: nobody hears of it, and connections stay open at both ends."""
        link = ("ip", "-n", NAME, "link", "set", _LINK)
        run(*link, "down")
        try:
            yield
        finally:
            run(*link, "up")


@contextmanager
def laptop() -> Iterator[Laptop]:
    """A laptop; it is gone after the block."""
    if network.exists(NAMESPACE):
        run("ip", "netns", "delete", NAMESPACE)
    run("ip", "netns", "add", NAMESPACE)
    try:
        own, switch = ("ip", "-n", NAMESPACE), ("ip", "-n", NAME)
        run(*own, "link", "set", "lo", "up")
        run(*switch, "link", "add", _LINK, "type", "veth", "peer", "name", "eth0", "netns", NAMESPACE)
        run(*switch, "link", "set", _LINK, "master", network.SWITCH)
        run(*switch, "link", "set", _LINK, "up")
        run(*own, "link", "set", "eth0", "address", _HARDWARE_ADDRESS)
        run(*own, "link", "set", "eth0", "up")
        for family in USED:
            network.add_address(NAMESPACE, family, family.node_address(_NUMBER), "eth0")
            network.add_route(NAMESPACE, family, family.everywhere, family.control)
        yield Laptop()
    finally:
        run("ip", "netns", "delete", NAMESPACE)
