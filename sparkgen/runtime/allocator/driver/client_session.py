"""A session in client mode: when it is over, and what its command requests on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

from sparkgen import contract
from sparkgen.codes import Code
from sparkgen.runtime.allocator.driver import driver_address, sessions
from sparkgen.runtime.allocator.driver.driver_address import DriverAddress, DriverAddresses
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox
from sparkgen.runtime.allocator.driver.protocol import BadMessage
from sparkgen.runtime.allocator.values.target import DriverPhase
from sparkgen.runtime.httpserver.values import HttpRequest, HttpResponse, Work, json_response
from sparkgen.runtime.httpserver.workers import Workers
from sparkgen.runtime.jars import jar_path, lines

JAR = "application/java-archive"
_SCALA = re.compile(r"\d{1,3}\.\d{1,3}")
_PHASES = {DriverPhase.SILENT: "waiting", DriverPhase.RUNNING: "running", DriverPhase.STOPPED: "stopped"}


@dataclass(frozen=True, slots=True)
class SessionPod:
    """The session's own pod: its name, its address, and the port that executors connect to."""

    name: str
    address: str
    port: int


class ClientSession:
    """Records when the command last sent a request, and decides whether the session is over. Thread-safe."""

    def __init__(self, clock: Callable[[], float], *, resumed: bool) -> None:
        """`resumed`: an earlier process of this allocator had contact with the command or a driver."""
        self._clock = clock
        self._resumed = resumed
        self._began = clock()
        self._lock = threading.Lock()
        self._command_at: float | None = None

    def command_speaks(self) -> None:
        """Record a request of the command."""
        with self._lock:
            self._command_at = self._clock()

    def why_over(self, driver_at: float | None) -> str:
        """Why the session is over; "" if it is not. `driver_at`: when a driver last reported."""
        with self._lock:
            heard = (self._command_at, driver_at)
        return sessions.why_over(self._began, heard, self._clock(), resumed=self._resumed)


@dataclass(frozen=True, slots=True)
class ClientEndpoint:
    """Answers the command's requests, after its token was checked (docs/design/protocol.md)."""

    session: ClientSession
    addresses: DriverAddresses
    pod: SessionPod
    properties: Callable[[DriverAddress], Mapping[str, str]]
    """All properties that a driver at an address starts with."""
    why_unreachable: Callable[[DriverAddress, str], str]
    """Tries to read a nonce at an address (reach.why_unreachable)."""
    jars: Path
    reaching: Workers = field(default_factory=lambda: Workers("reach", 2, waiting=4))
    reading: Workers = field(default_factory=lambda: Workers("jar", 1, waiting=4))

    def answer(self, request: HttpRequest, mailbox: DriverMailbox) -> HttpResponse | Work | None:
        """The answer, or the work that a thread does for it; None if the request is not for this endpoint."""
        match request.method, request.path:
            case "PUT", contract.SESSION_ALIVE_PATH:
                self.session.command_speaks()
                return self._alive(mailbox)
            case "PUT", contract.SESSION_DRIVER_PATH:
                self.session.command_speaks()
                if (request.content_length or 0) > driver_address.MAX_BODY:
                    return _refusal(400, f"the body must have at most {driver_address.MAX_BODY} bytes")
                return Work(self.reaching, self._driver, reads_body=True)
            case "GET", contract.SESSION_JAR_PATH:
                self.session.command_speaks()
                return Work(self.reading, lambda _: self._jar(request.query))
        return None

    def _alive(self, mailbox: DriverMailbox) -> HttpResponse:
        last = mailbox.last
        there = 0 if last is None else len(last.snapshot.executors)
        phase = _PHASES[mailbox.phase]
        return json_response(200, {"version": contract.VERSION, "phase": phase, "executors": there})

    def _driver(self, body: bytes) -> HttpResponse:
        try:
            address, nonce = driver_address.told_address(body)
        except BadMessage as error:
            return _refusal(400, str(error))
        why = self.why_unreachable(address, nonce)
        if why:
            text = f"the session's pod {self.pod.name} ({self.pod.address}) cannot reach {address}: {why}"
            return json_response(422, {"error": text, "code": Code.DRIVER_UNREACHABLE})
        self.addresses.tell(address)
        return json_response(
            200,
            {
                "version": contract.VERSION,
                "properties": dict(self.properties(address)),
                "podAddress": self.pod.address,
                "allocatorPort": self.pod.port,
            },
        )

    def _jar(self, query: str) -> HttpResponse:
        asked = parse_qs(query).get("scala", [""])[-1]
        file = jar_path(asked, self.jars) if _SCALA.fullmatch(asked) else None
        if file is None or not file.is_file():
            known = ", ".join(lines(self.jars)) or "none"
            return _refusal(404, f"this runtime image has a scheduler jar for Scala {known} only")
        return HttpResponse(200, file.read_bytes(), JAR)


def _refusal(code: int, why: str) -> HttpResponse:
    return json_response(code, {"error": why})
