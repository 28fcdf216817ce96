"""A small API server on loopback that plays answers, and kubeconfigs that lead to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

Answer = tuple[int, Any]


class Server(ThreadingHTTPServer):
    """Answers `METHOD path` by what a test put into `answers`; 404 for all else. Keeps what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.requests: list[tuple[str, str, Any]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


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
        data = json.dumps(value(query) if callable(value) else value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names that BaseHTTPRequestHandler looks for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that is up."""
    made = Server()
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


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
