"""Free ports of this machine, on the loopback address."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Iterable, Iterator

from sparkgen.local.errors import CannotRun
from sparkgen.runtime import sockets

LOOPBACK = "127.0.0.1"
OTHER_LOOPBACK = "::1"
"""The other address of `localhost`, which clients may try first. Not every machine has it."""
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
    """Whether a port is free to listen on, at both addresses of `localhost`: clients may try either."""
    try:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # like servers in Java
            listener.bind((LOOPBACK, port))
            listener.listen()
        with kept_from_others(port):
            return True
    except (CannotRun, OSError):
        return False


def is_ours(port: int) -> bool:
    """Whether nobody but this user listens at a port, as far as the kernel tells."""
    return sockets.users(port) <= {os.getuid()}


@contextlib.contextmanager
def kept_from_others(port: int) -> Iterator[None]:
    """Keep a port of OTHER_LOOPBACK during the block, so that nobody gets what clients send to `localhost`.

    Connections to it are refused, and clients go on to 127.0.0.1. Raises CannotRun if the port is in use.
    0: keeps any free port, for a run that serves nothing.
    """
    with contextlib.ExitStack() as stack:
        try:
            kept = stack.enter_context(socket.socket(socket.AF_INET6))
            kept.bind((OTHER_LOOPBACK, port))  # without SO_REUSEADDR, with which others could bind it, too
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotRun(
                    f"another program has port {port} of [{OTHER_LOOPBACK}], and would get what clients "
                    "send to localhost; end that program, or start this run again"
                ) from None
        yield
