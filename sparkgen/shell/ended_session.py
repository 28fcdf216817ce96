"""Tells a driver that its session has ended, in place of the allocator, which is gone."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOOPBACK

SILENCE_SECONDS = 10.0
"""Seconds without a request after which a connection is closed."""
MOST_READ = 4 * 2**20
"""Bytes of a request that are read: a driver's has at most half as many, but any local user may send one."""
PIECE = 2**16


class EndedSession(ThreadingHTTPServer):
    """Refuses every request at a loopback port (409), with the reason.

    The driver's Spark stops at once when it gets this answer. If nothing listened at the port, Spark would
    expect a short interruption, and wait for a minute and a half. `port`: the forwarded port of the
    allocator. `reason`: a text for people. Raises SparkgenError if the port is in use.
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
        """Start to answer, on another thread."""
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop a server that was started."""
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: a driver may close its connection at any time."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request, whatever it asks."""

    server: EndedSession
    timeout = SILENCE_SECONDS

    def _do(self) -> None:
        # The body is read first: closing a connection with unread data resets it, and the answer may be lost.
        left = min(int(self.headers.get("Content-Length") or 0), MOST_READ)
        while left > 0 and (piece := self.rfile.read(min(left, PIECE))):
            left -= len(piece)
        self.send_response(HTTPStatus.CONFLICT)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    do_GET = do_PUT = _do  # noqa: N815 - the names that the base class calls

    def log_message(self, *args: object) -> None:
        """Log nothing."""
