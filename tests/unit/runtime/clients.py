"""Clients of a listener, from any address of loopback, and what they hear."""

from __future__ import annotations

import socket
from contextlib import suppress


def connection(port: int, source: str = "127.0.0.1") -> socket.socket:
    """A connection of a machine with that address."""
    made = socket.socket()
    made.settimeout(5)
    # Otherwise its port could not be listened at for a minute, by any other test.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((source, 0))
    made.connect(("127.0.0.1", port))
    return made


def said(one: socket.socket) -> bytes:
    """All that the other side says until it closes."""
    parts = []
    with suppress(ConnectionResetError):
        while part := one.recv(65536):
            parts.append(part)
    return b"".join(parts)
