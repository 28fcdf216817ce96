"""Limits on what clients may use of the process: connections, bytes and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on what clients may use of the process. Times are in seconds."""

    connections: int = 512
    """The most connections that wait for their client: for its request, or until it closes."""
    per_address: int = 32
    """The most of them for one address; for IPv6, for a network of 64 bits, which one machine may own."""
    grace: float = 1.0
    """How long an address may have more of them: a burst of requests that are read at once."""
    sending: int = 64
    """The most connections whose client reads its answer more slowly than it is written."""
    sending_per_address: int = 8
    sending_bytes: int = 16 * 1024 * 1024
    """The most bytes of their answers together; one of them may have a larger answer."""
    head_bytes: int = 16 * 1024
    head_seconds: float = 5.0
    """The time for the whole head, however slowly its bytes arrive."""
    body_bytes: int = 0
    """The most bytes of all bodies that are being read or worked on at once."""
    body_seconds: float = 10.0
    send_seconds: float = 10.0
    idle_seconds: float = 0.0
    """How long a connection waits for another request; 0: each is for one request."""
