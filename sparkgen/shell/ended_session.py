"""Tells a driver that asks that its session has ended: in the place of the allocator, which is gone."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOOPBACK

SILENCE_SECONDS = 10.0
"""After which a connection that asks nothing is closed."""
MOST_READ = 4 * 2**20
"""Bytes of a question that are read: a driver's have half as many, and every user of the machine may ask."""
PIECE = 2**16


class EndedSession(ThreadingHTTPServer):
    """Answers every question at a port of loopback: no (409), and why.

    The driver's Spark stops by that at once; a port that nobody listens at could be one that breaks for a
    moment, which it bears for a minute and a half. `port`: where the way to the allocator was. `reason`: for
    people. SparkgenError when the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, reason: str) -> None:
        self.answer = json.dumps({"error": reason}).encode()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise SparkgenError(f"cannot listen on {LOOPBACK}:{port}: {error.strerror}") from error

    def start(self) -> None:
        """Begin, on a thread of its own."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End a server that has been started."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A driver that went away is no matter."""


class _Handler(BaseHTTPRequestHandler):
    """One request: what it asks makes no difference."""

    server: EndedSession
    timeout = SILENCE_SECONDS

    def _do(self) -> None:
        # An answer to half a question could be lost: what is unread at a close resets the connection.
        left = min(int(self.headers.get("Content-Length") or 0), MOST_READ)
        while left > 0 and (piece := self.rfile.read(min(left, PIECE))):
            left -= len(piece)
        self.send_response(HTTPStatus.CONFLICT)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    do_GET = do_PUT = _do  # noqa: N815 - the names that are looked for

    def log_message(self, *args: object) -> None:
        """Say nothing."""
