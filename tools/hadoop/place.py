"""Where a server of tests runs: an address, and the network namespace that has it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from cluster import network
from cluster.plan import CONTROL_ADDRESS, NAME, NODES


@dataclass(frozen=True, slots=True)
class Place:
    """An address of this machine; `namespace` is "" for the machine's own network."""

    address: str = "127.0.0.1"
    namespace: str = ""
    name: str = "localhost"
    """The host's name, for those who ask the tests' file of hosts."""

    @property
    def enter(self) -> Sequence[str]:
        """The command before a command that is to run there."""
        return network.enter(self.namespace) if self.namespace else ()

    def answers(self, port: int) -> bool:
        """Say whether somebody listens on a port of it."""
        here = network.inside(self.namespace) if self.namespace else contextlib.nullcontext()
        with here, contextlib.suppress(OSError):
            socket.create_connection((self.address, port), 1).close()
            return True
        return False


LOOPBACK = Place()
CONTROL = Place(CONTROL_ADDRESS, NAME, "namenode")
"""Beside the test cluster's API server: pods reach it."""
ON_NODES = tuple(Place(node.address, node.network_namespace, node.name) for node in NODES)
"""The test cluster's nodes, by their names: as DataNodes are on the nodes of a real one."""
