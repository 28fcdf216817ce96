"""What clients may take of the process: how many connections, how much, for how long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take of the process. Times are seconds."""

    connections: int = 512
    """Connections that wait for their client: for its request, or until it closes."""
    per_address: int = 32
    """Of them for one address; for IPv6 a network of 64 bits, as all of that is one machine's."""
    grace: float = 1.0
    """An address may have more of them for so long: a burst of requests that are read at once."""
    sending: int = 64
    """Connections whose client does not take its answer as fast as it is written."""
    sending_per_address: int = 8
    head_bytes: int = 16 * 1024
    head_seconds: float = 5.0
    """Within which the whole head has to be there, however slowly its bytes come."""
    body_bytes: int = 0
    """Of all bodies that are being read or worked on at once."""
    body_seconds: float = 10.0
    send_seconds: float = 10.0
    idle_seconds: float = 0.0
    """How long a connection waits for another request; 0: each is for one request."""
