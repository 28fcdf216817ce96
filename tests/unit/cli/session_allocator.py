"""A session's allocator, as far as `sparkgen shell` sees it: it tries to reach the driver, for real."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sparkgen import contract
from sparkgen.runtime.allocator.driver import properties

JAR = b"PK of a jar"


class SessionAllocator(ThreadingHTTPServer):
    """Answers at a port of loopback. `expected`: the hash of the token; `alive`: how often it was said."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.expected = ""
        self.rendered = ""
        self.alive = 0
        self.told: dict[str, Any] = {}
        self.unreachable = ""
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def reach(self, host: str, port: int) -> str:
        """What is said at a port of the driver's."""
        with socket.create_connection((host, port), 3) as near, near.makefile() as lines:
            return lines.readline().strip()


class Forwarded:
    """A connection to the allocator, as the API server forwards it."""

    def __init__(self, allocator: SessionAllocator) -> None:
        self._near = socket.create_connection(("127.0.0.1", allocator.server_port), 5)

    def socket(self, port_number: int) -> socket.socket:
        """The end that is on this machine."""
        assert port_number == contract.SCHEDULER_PORT
        return self._near

    def error(self, port_number: int) -> str | None:
        """Nothing goes wrong."""
        return None

    def close(self) -> None:
        """End it."""
        self._near.close()


class _Handler(BaseHTTPRequestHandler):
    """One request: the token first."""

    server: SessionAllocator

    def _do(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        allocator = self.server
        if scheme != "Bearer" or hashlib.sha256(token.encode()).hexdigest() != allocator.expected:
            return self._answer(401, json.dumps({"error": "another token"}).encode())
        if self.path == contract.SESSION_ALIVE_PATH:
            allocator.alive += 1
            return self._answer(200, b'{"version":1,"phase":"waiting","executors":0}')
        if self.path == f"{contract.SESSION_JAR_PATH}?scala=2.12":
            return self._answer(200, JAR)
        assert self.path == contract.SESSION_DRIVER_PATH
        return self._driver(json.loads(body))

    def _driver(self, told: dict[str, Any]) -> None:
        allocator = self.server
        if allocator.unreachable:
            error = {"error": allocator.unreachable, "code": "DriverUnreachable"}
            return self._answer(422, json.dumps(error).encode())
        assert allocator.reach(told["host"], told["port"]) == told["nonce"]
        allocator.told = told
        found = properties.parse(allocator.rendered)
        for name in ("spark.master", "spark.driver.extraClassPath"):
            found.pop(name, None)
        found |= {
            "spark.app.id": "pi-session-1",
            "spark.driver.host": told["host"],
            "spark.driver.port": str(told["port"]),
            "spark.driver.bindAddress": "0.0.0.0",  # noqa: S104 - as the allocator says it
            "spark.authenticate.secret": "r\\pc",
        }
        body = {"version": 1, "properties": found, "podAddress": "127.0.0.1"}
        return self._answer(200, json.dumps({**body, "allocatorPort": allocator.server_port}).encode())

    def _answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = _do  # noqa: N815 - the names that are looked for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
