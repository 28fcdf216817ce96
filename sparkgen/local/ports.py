"""Free ports of this machine, on the loopback address."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable

LOOPBACK = "127.0.0.1"
RANGE = range(20000, 32000)
"""Below the ports that the system gives to outgoing connections (32768 on Linux, 49152 elsewhere), so that
none of those takes a port between the choice and its use."""


def choose(number: int, candidates: Iterable[int]) -> list[int]:
    """The first `number` of the candidates that nobody listens on. OSError when there are not so many."""
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
    """Whether one can listen on a port."""
    with contextlib.closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers of Java do
        try:
            listener.bind((LOOPBACK, port))
            listener.listen()
        except OSError:
            return False
        return True
