"""A small API server on loopback that plays answers, and kubeconfigs that lead to it."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import pytest
import yaml

Answer = tuple[int, Any]
Served = TypeVar("Served", bound=ThreadingHTTPServer)
AUTHORITY = "own.crt"
"""The certificate of servers with TLS, in the folder of a kubeconfig."""
_REQUEST = """[req]
distinguished_name=name
x509_extensions=more
prompt=no
[name]
CN=sparkgen
[more]
subjectAltName=IP:127.0.0.1
basicConstraints=critical,CA:TRUE
"""


class Server(ThreadingHTTPServer):
    """Answers `METHOD path` by what a test put into `answers`; 404 for all else. Keeps what was asked.

    `tls`: None for plain HTTP.
    """

    daemon_threads = True

    def __init__(
        self, tls: ssl.SSLContext | None = None, handler: type[BaseHTTPRequestHandler] | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self._scheme = "https" if tls else "http"
        if tls:
            # The handshake is in the thread of the connection, at its first read.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, str, Any]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"{self._scheme}://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for an answer: two would wait for an acknowledgement in between
    server: Server

    def do_GET(self) -> None:
        """Answer as told."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        self.server.requests.append((f"{self.command} {path}", query, json.loads(body) if body else None))
        status, value = self.server.answers.get(f"{self.command} {path}", (404, {"message": "not found"}))
        value = value(query) if callable(value) else value
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_PATCH = do_POST = do_DELETE = do_GET  # noqa: N815 - the names that BaseHTTPRequestHandler looks for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(made: Served) -> Iterator[Served]:
    """Yields the server, which is up."""
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield made
    finally:
        made.shutdown()
        made.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that is up."""
    with serving(Server()) as made:
        yield made


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates")
    folder = tmp_path_factory.mktemp("certificate")
    certificate, key, request = (folder / name for name in (AUTHORITY, "own.key", "request"))
    request.write_text(_REQUEST)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command = ["openssl", "req", "-x509", *curve, "-config", request, "-out", certificate, "-keyout", key]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def made(pair: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The certificate and its key, beside the kubeconfig."""
    certificate, key = (Path(shutil.copy(path, tmp_path)) for path in pair)
    return certificate, key


@pytest.fixture
def tls(pair: tuple[Path, Path]) -> ssl.SSLContext:
    """TLS of a server that asks for a client certificate, and needs none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    context.load_verify_locations(pair[0])
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Callable[..., Path]:
    """A function: a kubeconfig with a server's address, contexts as {name: namespace} and the current one."""

    def write(
        address: str, contexts: dict[str, str], current: str = "", name: str = "kubeconfig", user: str = "me"
    ) -> Path:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": current,
            "clusters": [{"name": "c", "cluster": {"server": address}}],
            "users": [{"name": user, "user": {"token": "t"}}],
            "contexts": [
                {"name": one, "context": {"cluster": "c", "user": user, "namespace": namespace}}
                for one, namespace in contexts.items()
            ],
        }
        path = tmp_path / name
        path.write_text(yaml.safe_dump(config))
        return path

    return write
