"""The values of the HTTP server: requests, answers, work for a thread, and limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkgen.runtime.httpserver.workers import Workers

TEXT = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of Prometheus' text format."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """The head of a request. Names of headers are in lower case."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_length: int | None = None
    """Bytes of the body; None where the head does not say."""
    keep_alive: bool = False
    """Whether the client would send another request on this connection."""

    @property
    def has_body(self) -> bool:
        """Whether something follows the head."""
        return bool(self.content_length) or "transfer-encoding" in self.headers


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer; `kind` is its Content-Type."""

    status: int
    body: bytes = b""
    kind: str = TEXT


def text(status: int, content: str, kind: str = TEXT) -> HttpResponse:
    """An answer that is a text."""
    return HttpResponse(status, content.encode(errors="backslashreplace"), kind)


def json_response(status: int, content: object, indent: int | None = None) -> HttpResponse:
    """An answer that is JSON."""
    body = json.dumps(content, ensure_ascii=False, indent=indent) + "\n"
    return text(status, body, "application/json")


BUSY = text(503, "busy: ask again\n")


@dataclass(frozen=True, slots=True)
class Work:
    """What a thread has to do for an answer: `run` is given the body, when `reads_body`, and else nothing."""

    workers: Workers
    run: Callable[[bytes], HttpResponse]
    reads_body: bool = False
    busy: HttpResponse = BUSY
    """The answer when the workers have no room for it."""


Handler = Callable[[HttpRequest], HttpResponse | Work]
"""Says what becomes of a request. It is called on the server's one thread, and must not block."""


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
