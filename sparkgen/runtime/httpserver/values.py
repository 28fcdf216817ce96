"""The values of the HTTP server: requests, answers, and work for a thread."""

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
    """The number of bytes of the body; None if the head does not have it."""
    keep_alive: bool = False
    """Whether the client may send another request on this connection."""

    @property
    def has_body(self) -> bool:
        """Whether a body follows the head."""
        return bool(self.content_length) or "transfer-encoding" in self.headers


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer; `kind` is its Content-Type."""

    status: int
    body: bytes = b""
    kind: str = TEXT


def text(status: int, content: str, kind: str = TEXT) -> HttpResponse:
    """A text answer."""
    return HttpResponse(status, content.encode(errors="backslashreplace"), kind)


def json_response(status: int, content: object, indent: int | None = None) -> HttpResponse:
    """A JSON answer."""
    body = json.dumps(content, ensure_ascii=False, indent=indent) + "\n"
    return text(status, body, "application/json")


BUSY = text(503, "busy: try again\n")


@dataclass(frozen=True, slots=True)
class Work:
    """Work for a thread that makes an answer: `run` gets the body if `reads_body`, and else no bytes."""

    workers: Workers
    run: Callable[[bytes], HttpResponse]
    reads_body: bool = False
    busy: HttpResponse = BUSY
    """The answer if the workers have no free place."""


Handler = Callable[[HttpRequest], HttpResponse | Work]
"""Answers a request, or returns work for it. It is called on the server's one thread, and must not block."""
