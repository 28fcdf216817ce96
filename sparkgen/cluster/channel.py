"""What a request and its answer are, whichever client sends it: urllib3_client.py, or official_client.py."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

CONNECTIONS = 8
"""Connections that are kept: as many requests as a command has in flight at once."""
TIMEOUT = (10.0, 60.0)
"""Seconds to wait for a connection, and for an answer."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `query`: names and texts; `body`: sent as JSON; `timeout`: as TIMEOUT, None has no end."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    timeout: tuple[float, float | None] = TIMEOUT


class Answer(Protocol):
    """An answer whose body is still to be read: urllib3's."""

    @property
    def status(self) -> int:
        """The HTTP status: 200 to 299."""
        ...

    @property
    def data(self) -> bytes:
        """All of the body."""
        ...

    def stream(self, amt: int, decode_content: bool) -> Iterator[bytes]:
        """The body as it comes, in pieces of so many bytes at most."""
        ...

    def close(self) -> None:
        """Read no more of it."""
        ...


class Forwarded(Protocol):
    """A connection to a port of a pod: the official client's PortForward."""

    def socket(self, port_number: int) -> socket.socket:
        """What is written to it comes out there, and the other way round."""
        ...

    def error(self, port_number: int) -> str | None:
        """What went wrong at the other end."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Refused(Exception):
    """An answer that is none of 200 to 299, or a handshake that failed."""

    def __init__(self, status: int, reason: str, body: Any) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason
        self.body = body


class Channel(Protocol):
    """Where requests go; several threads may send at the same time. `server`: its address."""

    @property
    def server(self) -> str:
        """The address in the kubeconfig."""
        ...

    def send(self, call: Call) -> Answer:
        """The answer. Refused, or urllib3's HTTPError where there is none."""
        ...
