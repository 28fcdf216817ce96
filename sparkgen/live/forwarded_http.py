"""HTTP over a forwarded port: one request, whose answer is complete and in time, or none."""

from __future__ import annotations

import http.client
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sparkgen.cluster.channel import Forwarded
from sparkgen.runtime.deadline import Deadline, within

PIECE = 1 << 20


class Unanswered(Exception):
    """There is no complete answer; the message says why, on one line."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `seconds`: for its answer."""

    method: str
    path: str
    seconds: float
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whose body has not been read yet."""

    status: int
    _response: http.client.HTTPResponse
    _deadline: Deadline

    def pieces(self, *, patient: bool = False) -> Iterator[bytes]:
        """Yields the body as it arrives. `patient`: each piece has the seconds of a whole answer."""
        while piece := self._response.read1(PIECE):
            yield piece
            if patient:
                self._deadline.extend()
        if missing := self._response.length:  # http.client takes a body that breaks off for a whole one
            raise Unanswered(f"the answer broke off {missing} bytes before its end")


@contextmanager
def answer_of(opened: Forwarded, port: int, request: Request) -> Iterator[Answer]:
    """Yields the answer of a pod's port; closes the connection. Raises Unanswered, also while it is read."""
    asked = http.client.HTTPConnection("localhost", port)
    try:
        asked.sock = opened.socket(port)
        asked.sock.settimeout(request.seconds)
        with within(request.seconds) as deadline:
            deadline.watch(asked.sock)
            asked.request(request.method, request.path, request.body, dict(request.headers))
            response = asked.getresponse()
            yield Answer(response.status, response, deadline)
    except (OSError, http.client.HTTPException) as error:
        why = opened.error(port) or str(error) or type(error).__name__
        raise Unanswered(" ".join(why.split())) from error
    finally:
        asked.close()
        opened.close()
