"""Free ports of this machine, on the loopback address."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable

LOOPBACK = "127.0.0.1"
RANGE = range(20000, 32000)
"""Below the system's ports for outgoing connections (from 32768 on Linux, 49152 elsewhere), so that no such
connection takes a port between its choice and its use."""


def choose(number: int, candidates: Iterable[int]) -> list[int]:
    """The first `number` free ports of the candidates. Raises OSError if there are fewer."""
    found: list[int] = []
    for port in candidates:
        if len(found) == number:
            break
        if port not in found and is_free(port):
            found.append(port)
    if len(found) < number:
        raise OSError(f"there are no {number} free ports on {LOOPBACK}")
    return found


def is_free(port: int) -> bool:
    """Whether a port is free to listen on."""
    with contextlib.closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # like servers in Java
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()
        except OSError:
            return False
        return True
