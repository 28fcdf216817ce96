"""A registry of one process for tests: uploads as the OCI distribution specification has them, and its moods.

Whether it is like a real one is for tests/e2e; what a real one rarely does, it does when asked.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Registry:
    """What it has, and how it behaves.

    `login`: "", basic, or bearer; `answers`: method and the start of a path -> statuses that it gives first;
    `cut_after`: bytes of an upload after which it closes the connection, once for each number.
    """

    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, bytes] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    uploads: dict[str, bytearray] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    received: int = 0
    login: str = ""
    user: str = "me"
    password: str = "word"  # noqa: S105 - of a test
    answers: dict[tuple[str, str], list[tuple[int, bytes]]] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)
    wrong_digest: bool = False
    keeps_blobs: bool = False
    """Whether an upload changes nothing where the digest is there, as in CNCF distribution."""
    no_registry: bool = False
    seen: list[str] = field(default_factory=list)
    address: str = ""
    realm: str = ""
    location: str = ""
    """Where uploads go, in place of here."""
    token: bytes = b'{"token": "good"}'
    """What the login server answers."""

    def basic(self) -> str:
        """The header that it wants."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: Registry

    def log_message(self, *_args: Any) -> None:
        """Print nothing."""

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _handle(self) -> None:
        own, path = self.registry, urlsplit(self.path).path
        kind = re.sub("(?<=sha256:).*|(?<=uploads/).*", "", path)
        own.calls[f"{self.command} {kind}"] += 1
        own.seen.append(f"{self.command} {self.path} {self.headers.get('Authorization', '')}")
        if own.no_registry:
            self._answer(200, b"<html>hello", Content_Type="text/html")
        elif path == "/token":
            self._token()
        elif not self._let_in():
            self._unread()
            asked = f'Bearer realm="{own.realm or f"http://{own.address}/token"}",service="reg",scope="x"'
            self._answer(401, WWW_Authenticate="Basic realm=r" if own.login == "basic" else asked)
        elif (told := self._told(path)) is not None:
            self._unread()
            self._answer(*told)
        else:
            self._serve(path)

    def _unread(self) -> None:
        """Take what was sent, so that the connection can be used again."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _told(self, path: str) -> tuple[int, bytes] | None:
        for (method, start), statuses in self.registry.answers.items():
            if method == self.command and re.search(start, path) and statuses:
                return statuses.pop(0)
        return None

    def _let_in(self) -> bool:
        given = self.headers.get("Authorization", "")
        if self.registry.login == "basic":
            return given == self.registry.basic()
        return self.registry.login != "bearer" or given == "Bearer good"

    def _token(self) -> None:
        if self.headers.get("Authorization", "") == self.registry.basic():
            self._answer(200, self.registry.token)
        else:
            self._answer(401)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = _handle  # noqa: N815 - http.server's names

    def _serve(self, path: str) -> None:
        if path == "/v2/":
            self._answer(200, b"{}")
        elif self.command == "POST":
            name = f"u{len(self.registry.uploads)}"
            self.registry.uploads[name] = bytearray()
            self._answer(202, Location=self.registry.location or f"{path}{name}?_state=hidden")
        elif "/blobs/uploads/" in path:
            self._upload(path.rpartition("/")[2])
        elif "/manifests/" in path:
            self._manifest(path.rpartition("/")[2])
        else:
            self._stored(self.registry.blobs.get(path.rpartition("/")[2]))

    def _stored(self, data: bytes | None) -> None:
        self._answer(404) if data is None else self._answer(200, data)

    def _upload(self, name: str) -> None:
        data = self.registry.uploads[name]
        if self.command == "PATCH":
            start = int((self.headers.get("Content-Range") or "0").partition("-")[0])
            if start != len(data):
                self._unread()
                self._answer(416)
                return
            size = int(self.headers["Content-Length"])
            cut = self.registry.cut_after.pop(0) if self.registry.cut_after else size
            got = self.rfile.read(min(size, cut))
            data += got
            self.registry.received += len(got)
            if cut < size:
                self.close_connection = True
                self.connection.shutdown(2)
                return
            self._answer(202, Location=f"/v2/x/blobs/uploads/{name}?_state=hidden")
        elif self.command == "GET":
            self._answer(204, Location=self.path, Range=f"0-{max(0, len(data) - 1)}")
        else:
            self._finish(data, parse_qs(urlsplit(self.path).query)["digest"][0])

    def _finish(self, data: bytearray, digest: str) -> None:
        found = f"sha256:{hashlib.sha256(data).hexdigest()}"
        if found != digest:
            self._answer(400, b'{"errors":[{"code":"DIGEST_INVALID","message":"digest is wrong"}]}')
            return
        if not self.registry.keeps_blobs or digest not in self.registry.blobs:
            self.registry.blobs[digest] = bytes(data)
        shown = "sha256:" + "0" * 64 if self.registry.wrong_digest else digest
        self._answer(201, Docker_Content_Digest=shown)

    def _manifest(self, name: str) -> None:
        own = self.registry
        if self.command != "PUT":
            self._stored(own.manifests.get(own.tags.get(name, name)))
            return
        data = self.rfile.read(int(self.headers["Content-Length"]))
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        own.manifests[digest] = data
        own.tags[name] = digest
        self._answer(201, Docker_Content_Digest=digest)


@contextmanager
def served(registry: Registry, tls: ssl.SSLContext | None = None) -> Iterator[Registry]:
    """The registry at a port of this machine: `registry.address`."""
    handler = type("Handler", (_Handler,), {"registry": registry})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    registry.address = f"localhost:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
