"""The two listeners: one on loopback for the scheduler jar, one at the pod's address for everybody else.

Threads of the standard library, a bounded number of them: whoever comes when all are busy is told to come
again. Nothing of a request is ever logged, because the token is in it.
"""

from __future__ import annotations

import hmac
import io
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sparkgen import contract
from sparkgen.allocator import protocol, status
from sparkgen.allocator.desk import Desk, Word
from sparkgen.allocator.seats import Seats

MAX_CONNECTIONS = 192
"""Threads of one listener."""
MAX_PER_ADDRESS = 32
"""Of them for one address other than loopback: an executor needs one, and the kubelet two."""
MAX_WAITING = 128
"""Executors whose question is held; each holds a thread."""
HOLD_SECONDS = 5.0
"""How long an executor's question is held at most."""
SILENCE_SECONDS = 30.0
"""A connection that says nothing for so long is closed."""
HEAD_SECONDS = 5.0
"""Within which the whole of a request has to be there that comes from outside of the pod."""
MAX_HEAD = 16 * 1024
"""Bytes of such a request."""
STUCK_SECONDS = 60.0
"""A loop that has made no round for so long is stuck: the kubelet may start the container again."""

_START = re.compile(re.escape(contract.START_PATH) + r"/(\d{1,10})/start")


@dataclass(frozen=True, slots=True)
class Public:
    """What the pod's address answers from. `facts` is asked at each question for status or metrics."""

    desk: Desk
    facts: Callable[[], status.Facts]
    waiting: threading.BoundedSemaphore


class _Handler(BaseHTTPRequestHandler):
    """What both listeners have in common."""

    protocol_version = "HTTP/1.1"
    server_version = "sparkgen"
    sys_version = ""
    timeout = SILENCE_SECONDS

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def _send(self, code: int, text: str = "", kind: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(code)
        if code != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _send_json(self, code: int, body: object) -> None:
        self._send(code, json.dumps(body, ensure_ascii=False) + "\n", "application/json")


class _Driver(_Handler):
    """The handler of the loopback listener: docs/design/protocol.md."""

    desk: Desk
    expected: bytes
    """What the header Authorization has to be."""

    def do_GET(self) -> None:
        """Give the report, when it is not the one that the driver has."""
        url = urlsplit(self.path)
        if not self._allowed() or not self._at(url.path, protocol.REPORT_PATH):
            return
        asked = {key: values[-1] for key, values in parse_qs(url.query).items()}
        found = self.desk.report(asked.get("session", ""), asked.get("seen", ""), _seconds(asked.get("wait")))
        if found is None:
            self._send(204)
        else:
            self._send_json(200, protocol.report_body(found[1], found[0]))

    def do_PUT(self) -> None:
        """Take in the driver's state."""
        body = self._body()
        if body is None or not self._allowed() or not self._at(self.path, protocol.STATE_PATH):
            return
        try:
            target = protocol.target_of(json.loads(body))
        except protocol.Misunderstood as error:
            self._refuse(400, str(error))
        except (ValueError, RecursionError) as error:
            self._refuse(400, f"the state is not JSON: {error}")
        else:
            self._send_json(200, protocol.acknowledgement(self.desk.take(target)))

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > protocol.MAX_BODY:
            self.close_connection = True
            self._refuse(
                400, f"a body of 0 to {protocol.MAX_BODY} bytes, with its Content-Length, is expected"
            )
            return None
        return self.rfile.read(int(length))

    def _allowed(self) -> bool:
        given = self.headers.get("Authorization", "").encode("latin-1", "replace")
        if hmac.compare_digest(given, self.expected):
            return True
        self._refuse(
            401,
            "the token is not this allocator's: the driver reads it from the file that "
            "spark.sparkgen.tokenFile names",
        )
        return False

    def _at(self, path: str, expected_path: str) -> bool:
        if path == expected_path:
            return True
        self._refuse(404, f"there is nothing at {path[:100]}")
        return False

    def _refuse(self, code: int, text: str) -> None:
        self._send_json(code, {"error": text})


def driver_handler(desk: Desk, token: str) -> type[BaseHTTPRequestHandler]:
    """The handler of the loopback listener."""
    return type("Driver", (_Driver,), {"desk": desk, "expected": f"Bearer {token}".encode()})


def _seconds(text: str | None) -> float:
    """The asked time to wait, within bounds."""
    if text is None or not re.fullmatch(r"\d{1,4}(\.\d{1,6})?", text):
        return 0.0
    return min(float(text), protocol.MAX_WAIT)


class _Public(_Handler):
    """The handler of the listener at the pod's address: anybody may come, so nobody may stay.

    One connection is for one question, which has one deadline, however slowly its bytes come.
    """

    protocol_version = "HTTP/1.0"
    """Without keep-alive."""
    public: Public

    def handle(self) -> None:
        """Answer one question; nothing, when it does not come in time."""
        head = _head(self.connection, time.monotonic() + HEAD_SECONDS)
        if head is not None:
            self.connection.settimeout(self.timeout)
            self.rfile.close()
            self.rfile = io.BytesIO(head)
            self.handle_one_request()

    def do_GET(self) -> None:
        """Answer probes, executors, people and Prometheus."""
        path = urlsplit(self.path).path
        start = _START.fullmatch(path)
        if start is not None:
            self._send(word(self.public, int(start[1])).value)
        elif path == contract.READY_PATH:
            self._send(200, "ok\n")
        elif path == contract.HEALTH_PATH:
            self._send(*health(self.public.desk))
        elif path == contract.STATUS_PATH:
            self._send_json(200, status.status_body(self.public.facts()))
        elif path == contract.METRICS_PATH:
            self._send(
                200, status.metrics_text(self.public.facts()), "text/plain; version=0.0.4; charset=utf-8"
            )
        else:
            self._send(404, f"there is nothing here; there are {contract.STATUS_PATH} and others\n")


def _head(connection: socket.socket, deadline: float) -> bytes | None:
    """A request without its body; None when it is too long, or not there at the deadline (monotonic)."""
    head = b""
    while b"\r\n\r\n" not in head:
        left = deadline - time.monotonic()
        if left <= 0 or len(head) > MAX_HEAD:
            return None
        connection.settimeout(left)
        try:
            part = connection.recv(4096)
        except OSError:
            return None
        if not part:
            return None
        head += part
    return head


def public_handler(public: Public) -> type[BaseHTTPRequestHandler]:
    """The handler of the listener at the pod's address."""
    return type("Public", (_Public,), {"public": public})


def health(desk: Desk) -> tuple[int, str]:
    """The answer to the liveness probe: a status and a text."""
    age = desk.age
    if desk.crashed is not None:
        return 500, "a thread of the allocator has died\n"
    if age is not None and age > STUCK_SECONDS and not desk.closed:
        return 500, f"the loop has made no round for {age:.0f} s\n"
    return 200, "ok\n"


def word(public: Public, id_: int) -> Word:
    """The word for an executor; its question is held where there is room for one more."""
    if not public.waiting.acquire(blocking=False):
        return public.desk.word(id_, 0.0)
    try:
        return public.desk.word(id_, HOLD_SECONDS)
    finally:
        public.waiting.release()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str, port: int, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._seats = Seats(MAX_CONNECTIONS, MAX_PER_ADDRESS)
        super().__init__((address, port), handler)

    def server_bind(self) -> None:
        """Bind, without looking up the machine's name as HTTPServer does: that may ask a DNS server."""
        self.allow_reuse_address = True
        super(ThreadingHTTPServer, self).server_bind()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own, or say that there is none free for this address."""
        if not self._seats.take(client_address[0]):
            request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and free the thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._seats.leave(client_address[0])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked is gone: that is all that ends up here."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener that answers until it is closed. `port`: where, also when 0 was asked for."""

    server: ThreadingHTTPServer

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.server_address[1])

    def close(self) -> None:
        """Listen no more."""
        self.server.shutdown()
        self.server.server_close()


def listen(address: str, port: int, handler: type[BaseHTTPRequestHandler]) -> Listener:
    """Begin to listen. OSError when the port is taken, or the address is not this machine's."""
    server = _Server(address, port, handler)
    threading.Thread(target=server.serve_forever, args=(0.1,), name=f"listen-{port}", daemon=True).start()
    return Listener(server)
