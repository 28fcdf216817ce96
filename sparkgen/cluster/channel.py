"""The types of a request and its answer, for both clients: urllib3_client.py and official_client.py."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

CONNECTIONS = 8
"""Connections that are kept open: a command sends as many requests at once."""
TIMEOUT = (10.0, 60.0)
"""Seconds to wait for a connection, and for an answer."""
_TLS = "https://"


def with_scheme(server: str) -> str:
    """Returns a server's address in a kubeconfig with a scheme: http if it has none, as kubectl reads it.

    https://github.com/kubernetes/client-go/blob/master/rest/url_utils.go
    """
    scheme, separator, rest = server.rstrip("/").partition("://")
    return f"{scheme.lower()}://{rest}" if separator else f"http://{scheme}"


def gets_credentials(address: str) -> bool:
    """Whether a server gets credentials: only over TLS, as kubectl does. `address`: of `with_scheme`.

    For another server, kubectl does not even read the user of the kubeconfig, and runs no program to log in.
    https://github.com/kubernetes/client-go/blob/master/tools/clientcmd/client_config.go
    """
    return address.startswith(_TLS)


@dataclass(frozen=True, slots=True)
class Call:
    """A request. `query`: names and values; `body`: sent as JSON; `timeout`: as TIMEOUT; None: no limit."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    timeout: tuple[float, float | None] = TIMEOUT


class Answer(Protocol):
    """An answer of urllib3's, whose body has not been read yet."""

    @property
    def status(self) -> int:
        """The HTTP status: 200 to 299."""
        ...

    @property
    def data(self) -> bytes:
        """The whole body."""
        ...

    def stream(self, amt: int, decode_content: bool) -> Iterator[bytes]:
        """Yields the body as it arrives, in pieces of at most `amt` bytes."""
        ...

    def close(self) -> None:
        """Stop reading the body."""
        ...


class Forwarded(Protocol):
    """A connection to a port of a pod: the official client's PortForward."""

    def socket(self, port_number: int) -> socket.socket:
        """The socket that is connected to the pod's port."""
        ...

    def error(self, port_number: int) -> str | None:
        """The error at the pod's end; None if there is none."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Refused(Exception):
    """An answer with a status outside 200 to 299, or a handshake that failed."""

    def __init__(self, status: int, reason: str, body: Any) -> None:
        super().__init__(status, reason)
        self.status = status
        self.reason = reason
        self.body = body


class Channel(Protocol):
    """Sends requests to a server; several threads may send at the same time. `server`: its address."""

    @property
    def server(self) -> str:
        """The address in the kubeconfig."""
        ...

    def send(self, call: Call) -> Answer:
        """Returns the answer. Raises Refused, or urllib3's HTTPError if there is no answer."""
        ...
