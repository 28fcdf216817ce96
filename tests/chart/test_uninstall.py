"""The program that removes a release's runs: what it asks for, and who never gets its token."""

from __future__ import annotations

import importlib.util
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "charts" / "spark-app" / "files" / "uninstall.py"


class Server(ThreadingHTTPServer):
    """Answers everything alike. Keeps the headers of what was asked."""

    daemon_threads = True

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = status, {"Content-Length": str(len(body)), **headers}, body
        self.asked: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_GET(self) -> None:
        """Answer as told."""
        self.server.asked.append(dict(self.headers))
        status, headers, body = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_DELETE = do_GET  # noqa: N815 - the name that BaseHTTPRequestHandler looks for

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(status: int, headers: dict[str, str] | None = None, body: bytes = b"{}") -> Iterator[Server]:
    """A server that gives one answer to everything."""
    with Server(status, headers or {}, body) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program with an account's token, and without TLS."""
    spec = importlib.util.spec_from_file_location("uninstall", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "token").write_text("the-token")
    monkeypatch.setattr(module, "ACCOUNT", tmp_path)
    context = ssl.create_default_context()
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: context)
    return module


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(program: Any, status: int) -> None:
    """Else whoever it names would get the account's token."""
    with serving(200) as other, serving(status, {"Location": f"{other.address}/x"}) as api:
        program.API = api.address
        with pytest.raises(SystemExit, match=f"error: GET /apis: {status}"):
            program.call("GET", "/apis")
        assert [asked["Authorization"] for asked in api.asked] == ["Bearer the-token"]
        assert other.asked == []


def test_an_answer_that_is_no_text(program: Any) -> None:
    """It is told as far as it can be read."""
    with serving(500, body=b"\xff" * 500) as api:
        program.API = api.address
        with pytest.raises(SystemExit, match=r"^error: GET /apis: 500 \ufffd{300}$"):
            program.call("GET", "/apis")


def test_what_is_gone_is_no_error(program: Any) -> None:
    """Nor is an empty list."""
    with serving(404) as api:
        program.API = api.address
        assert program.call("GET", "/x") is None
    for empty in (b'{"items": []}', b'{"items": null, "metadata": {"resourceVersion": "1"}}', b"{}"):
        with serving(200, body=empty) as api:
            program.API = api.address
            assert program.owned("/x", "default", "pi") == {}


def test_lists_leave_the_content_of_objects_with_the_server(program: Any) -> None:
    """A namespace has other people's ConfigMaps, too. A server that cannot do that sends whole objects."""
    own = {"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}
    mine = {"name": "mine", "uid": "1", "annotations": own}
    items = [{"metadata": mine}, {"metadata": {"name": "a neighbour's", "uid": "2"}}]
    with serving(200, body=json.dumps({"kind": "PartialObjectMetadataList", "items": items}).encode()) as api:
        program.API = api.address
        assert program.owned("/x", "default", "pi") == {"mine": "1"}
        [asked] = api.asked
    metadata, anything = asked["Accept"].split(",")
    assert metadata == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert anything == "application/json"


def test_labels_of_a_neighbour_take_no_memory(program: Any) -> None:
    """A ConfigMap may have 60,000 of them, and several end a hook that keeps them."""
    own = {"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}
    many = {f"l{number}": "" for number in range(1_000)}
    large = {"metadata": {"name": "a", "uid": "1", "annotations": {**own, **many}, "labels": many}}
    with serving(200, body=json.dumps({"items": [large], "metadata": {"continue": ""}}).encode()) as api:
        program.API = api.address
        found = program.call("GET", "/x")
        assert found["items"] == [{"metadata": {"name": "a", "uid": "1", "annotations": own}}]
        assert program.owned("/x", "default", "pi") == {"a": "1"}


def test_only_what_was_listed_is_deleted(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has got its name meanwhile stays, and is looked at again."""
    rounds = [{"a": "1"}, {"a": "1"}, {"a": "2"}, {}]
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(program, "owned", lambda *_: rounds.pop(0))
    monkeypatch.setattr(program, "call", lambda *what, body: asked.append((*what, body)))
    monkeypatch.setattr(program.time, "sleep", lambda _: None)
    program.remove("/jobs", "default", "pi")
    assert asked == [
        ("DELETE", "/jobs/a", {"propagationPolicy": "Foreground", "preconditions": {"uid": uid}})
        for uid in ("1", "2")
    ]
    with serving(409) as api:
        program.API = api.address
        assert program.call("DELETE", "/jobs/a", body={}) is None
