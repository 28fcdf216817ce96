"""Ports for processes that must be told theirs before they listen."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

# Linux gives clients the ports from 32768 on. One of those that is free now may be a client's by the time the
# process listens. The low ones are often taken by servers.
FIRST, LAST = 20000, 32000


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback address where nobody listens now, and that no client is given."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            port = random.randint(FIRST, LAST)  # noqa: S311 - nobody guards anything with it
            tried = held.enter_context(socket.socket())
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            ports.append(port)
    return ports


def free_port() -> int:
    """One such port."""
    return free_ports(1)[0]
