"""The two listeners: one on loopback for the scheduler jar, one at the pod's address for everybody else.

No part of a request is ever logged, because requests contain the token.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from sparkgen import contract
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.client_session import ClientEndpoint
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox, StartAnswer
from sparkgen.runtime.allocator.driver.sessions import SessionAwaited, SessionTaken
from sparkgen.runtime.allocator.report import status
from sparkgen.runtime.allocator.values.target import DriverPhase
from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.listening import Listener, listen
from sparkgen.runtime.httpserver.values import (
    BUSY,
    METRICS,
    Handler,
    HttpRequest,
    HttpResponse,
    Work,
    json_response,
    text,
)
from sparkgen.runtime.httpserver.workers import Workers

__all__ = ["DRIVER_LIMITS", "PUBLIC_LIMITS", "Listener", "driver_handler", "listen", "public_handler"]

MAX_WAITING = 128
"""The most executors whose requests are held until there is a decision; each holds a thread."""
MAX_WAITING_PER_ADDRESS = 16
"""The most of them from one address: executors in the host network share the address of their node."""
HOLD_SECONDS = 5.0
"""The most seconds that an executor's request is held."""
PAGES_WAITING = 64
"""The most requests for /status and /metrics that wait for the one thread that answers them."""
PROBES_WAITING = 64
"""The most requests for /connect that wait for the one thread that checks the Connect server."""
FRESH_SECONDS = 1.0
"""How long an answer of the Connect server also answers other requests."""
LAST_SECONDS = 10.0
"""How long it answers requests that find no free place: longer than a check takes."""
STUCK_SECONDS = 60.0
"""A loop that has not finished a round for this long is stuck: the kubelet may restart the container."""
DRIVER_LIMITS = Limits(
    connections=64, per_address=64, body_bytes=4 * protocol.MAX_BODY, body_seconds=30.0, idle_seconds=30.0
)
"""The scheduler jar needs two connections. All connections to loopback have one address."""
PUBLIC_LIMITS = Limits()
"""Limits of the listener at the pod's address, for executors, probes and Prometheus: our defaults."""

_START = re.compile(re.escape(contract.START_PATH) + r"/(\d{1,10})/start")


# --- loopback: the scheduler jar ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _DriverEndpoint:
    """The handler of the loopback listener: docs/design/protocol.md."""

    mailbox: DriverMailbox
    token_hash: str
    """SHA-256, in hex, of the expected token."""
    client: ClientEndpoint | None
    """Answers the command of a session in client mode; None in other modes."""
    states: Workers
    reports: Workers

    def __call__(self, request: HttpRequest) -> HttpResponse | Work:
        """Answer, or return the work for a thread. Checks the token first, then the path, then the body."""
        given = request.headers.get("authorization", "").encode("latin-1", "replace")
        scheme, _, token = given.partition(b" ")
        shown = hashlib.sha256(token).hexdigest()
        if scheme != b"Bearer" or not hmac.compare_digest(shown, self.token_hash):
            return _refusal(
                401,
                "the token is wrong: the driver must send the one from the file that "
                "spark.sparkgen.tokenFile names",
            )
        match request.method, request.path:
            case "GET", protocol.REPORT_PATH:
                return Work(self.reports, lambda _: self._report(request))
            case "PUT", protocol.STATE_PATH:
                return self._state(request)
        answer = None if self.client is None else self.client.answer(request, self.mailbox)
        return answer or _refusal(404, f"there is no path {request.path[:100]}")

    def _report(self, request: HttpRequest) -> HttpResponse:
        """The report, if it differs from the one that the driver has; else 204."""
        asked = {key: values[-1] for key, values in parse_qs(request.query).items()}
        found = self.mailbox.report(
            asked.get("session", ""), asked.get("seen", ""), _seconds(asked.get("wait"))
        )
        return (
            HttpResponse(204)
            if found is None
            else json_response(200, protocol.report_body(found[1], found[0]))
        )

    def _state(self, request: HttpRequest) -> HttpResponse | Work:
        length = request.content_length
        if length is None or length > protocol.MAX_BODY:
            return _refusal(400, f"the body must have 0 to {protocol.MAX_BODY} bytes, and a Content-Length")
        return Work(self.states, self._take, reads_body=True)

    def _take(self, body: bytes) -> HttpResponse:
        """Take in the driver's state."""
        try:
            target = protocol.state_in(body)
        except protocol.BadMessage as error:
            return _refusal(400, str(error))
        if self.client is not None and not self.client.addresses.known:
            return _refusal(400, "the address of this driver is unknown: start it with `sparkgen shell`")
        try:
            return json_response(200, protocol.acknowledgement(self.mailbox.receive(target)))
        except SessionTaken as error:
            return _refusal(409, str(error))
        except SessionAwaited as error:
            return _refusal(503, str(error))


def _refusal(code: int, why: str) -> HttpResponse:
    return json_response(code, {"error": why})


def driver_handler(mailbox: DriverMailbox, token_hash: str, client: ClientEndpoint | None = None) -> Handler:
    """The handler of the loopback listener. `token_hash`: SHA-256, in hex, of the driver's token."""
    return _DriverEndpoint(
        mailbox,
        token_hash,
        client,
        Workers("state", 2, waiting=64),
        Workers("report", 16, waiting=16),
    )


def _seconds(given: str | None) -> float:
    """The requested waiting time in seconds, within bounds; 0 for malformed text."""
    if given is None or not re.fullmatch(r"\d{1,4}(\.\d{1,6})?", given):
        return 0.0
    return min(float(given), protocol.MAX_WAIT)


# --- the pod's address: executors, probes, people -------------------------------------------------


class ConnectEndpoint:
    """Answers /connect: requests share one exchange with the Connect server. Thread-safe."""

    def __init__(self, why_not_serving: Callable[[], str], clock: Callable[[], float]) -> None:
        """`why_not_serving` checks: one line, empty if the server serves. `clock`: monotonic, in seconds."""
        self._ask = why_not_serving
        self._clock = clock
        self._last = (-math.inf, BUSY)
        self._workers = Workers("connect", 1, waiting=PROBES_WAITING)

    def answer(self) -> HttpResponse | Work:
        """The last answer if it is fresh; otherwise the work that gets a new one.

        A request that finds no free place gets the last answer, so that other clients cannot keep the kubelet
        from an answer.
        """
        return self._known(FRESH_SECONDS) or Work(
            self._workers, lambda _: self._shared(), busy=self._known(LAST_SECONDS) or BUSY
        )

    def _shared(self) -> HttpResponse:
        """Get the answer on the one thread: the first of the waiting requests checks for all of them."""
        found = self._known(FRESH_SECONDS)
        if found is None:
            why = self._ask()
            found = text(503, f"{why}\n") if why else text(200, "ok\n")
            self._last = (self._clock(), found)
        return found

    def _known(self, seconds: float) -> HttpResponse | None:
        """The last answer, if it is at most `seconds` old."""
        at, found = self._last
        return found if self._clock() - at <= seconds else None


STOPPED = text(503, "Spark has stopped in the driver\n")


@dataclass(frozen=True, slots=True)
class PublicEndpoint:
    """Answers at the pod's address. `facts` is called for each request for status or metrics.

    `connect` is set only beside a Connect server.
    """

    mailbox: DriverMailbox
    facts: Callable[[], status.StatusFacts]
    connect: ConnectEndpoint | None = None
    waiting: Workers = field(
        default_factory=lambda: Workers("word", MAX_WAITING, per_group=MAX_WAITING_PER_ADDRESS)
    )
    pages: Workers = field(default_factory=lambda: Workers("page", 1, waiting=PAGES_WAITING))


def public_handler(public: PublicEndpoint) -> Handler:
    """The handler of the listener at the pod's address.

    Probes and known start answers need no thread, so that no other client can delay them.
    """

    def answer(request: HttpRequest) -> HttpResponse | Work:
        if request.method != "GET":
            return text(405, "only GET is allowed here\n")
        start = _START.fullmatch(request.path)
        if start is not None:
            return start_answer(public, int(start[1]))
        match request.path:
            case contract.READY_PATH:
                return text(200, "ok\n")
            case contract.HEALTH_PATH:
                return text(*health(public.mailbox))
            case contract.CONNECT_PATH if public.connect is not None:
                # After Spark has stopped, the Connect server's process keeps the port, but serves nobody.
                stopped = public.mailbox.target().phase is DriverPhase.STOPPED
                return STOPPED if stopped else public.connect.answer()
            case contract.STATUS_PATH:
                return Work(public.pages, lambda _: json_response(200, status.status_body(public.facts())))
            case contract.METRICS_PATH:
                return Work(public.pages, lambda _: text(200, status.metrics_text(public.facts()), METRICS))
        return text(404, f"there is nothing at this path; try {contract.STATUS_PATH}\n")

    return answer


def health(mailbox: DriverMailbox) -> tuple[int, str]:
    """The answer to the liveness probe: a status and a text."""
    age = mailbox.age
    if mailbox.crashed is not None:
        return 500, "a thread of the allocator has died\n"
    if age is not None and age > STUCK_SECONDS and not mailbox.closed:
        return 500, f"the loop has not finished a round for {age:.0f} s\n"
    return 200, "ok\n"


def start_answer(public: PublicEndpoint, id_: int) -> HttpResponse | Work:
    """The start answer for an executor; its request is held if there is a free place."""
    known = public.mailbox.start_answer(id_, 0.0)
    if known is not StartAnswer.WAIT:
        return HttpResponse(known.value)
    return Work(
        public.waiting,
        lambda _: HttpResponse(public.mailbox.start_answer(id_, HOLD_SECONDS).value),
        busy=HttpResponse(StartAnswer.WAIT.value),
    )
