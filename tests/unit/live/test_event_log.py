"""The event log of a run, from a history server that plays answers."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.live import event_log
from sparkgen.live.event_log import fetch
from sparkgen.live.values import Run
from sparkgen.objects import ObjectView
from sparkgen.writers import own_files
from tests.unit.live.played import Played

RUN = Run("pi", "analytics", "pi-1a2b3c4d", "1a2b3c4d", {"kind": "Job"})
LOGS = "/api/v1/applications/pi-1a2b3c4d-x7k2p/logs"


class Handler(BaseHTTPRequestHandler):
    """What a path answers, or 404."""

    answers: dict[str, bytes]

    def do_GET(self) -> None:
        """Answer as told."""
        data = self.answers.get(self.path)
        self.send_response(404 if data is None else 200)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Port:
    """A connection to a port of this machine, as one that is forwarded."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))

    def socket(self, port_number: int) -> socket.socket:
        """The connection; 18080 is a history server's own."""
        assert port_number == 18080
        return self._socket

    def error(self, port_number: int) -> str | None:
        """Nothing goes wrong at the other end."""

    def close(self) -> None:
        """End it."""
        self._socket.close()


class Fake:
    """A cluster with a history server, or without one."""

    def __init__(self, port: int, ready: str | None = "True") -> None:
        self.port = port
        status = {"conditions": [{"type": "Ready", "status": ready}]}
        self.pods = [{"metadata": {"name": "spark-history-0"}, "status": status}] if ready else []

    def list(
        self, api_version: str, kind: str, namespace: str = "", selector: str = "", **_: bool
    ) -> Sequence[ObjectView]:
        """Its pods."""
        assert (api_version, kind, namespace) == ("v1", "Pod", "analytics")
        assert selector == "sparkgen.dev/history-server"
        return self.pods

    def forward(self, pod: str, port: int, namespace: str = "") -> Port:
        """A connection to the server."""
        return Port(self.port)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    """A history server that knows three applications, the newest first."""
    known = [{"id": "pi-1a2b3c4d0-a"}, {"id": "pi-1a2b3c4d-x7k2p"}, {"id": "pi-1a2b3c4d-aaaaa"}]
    Handler.answers = {"/api/v1/applications": json.dumps(known).encode(), LOGS: b"PK..."}
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_the_newest_log_of_the_run_is_written(tmp_path: Path, server: ThreadingHTTPServer) -> None:
    """Another run whose name begins alike is another one."""
    file = tmp_path / "log.zip"
    assert fetch(Fake(server.server_port), RUN, partial(own_files.write, file)) == "pi-1a2b3c4d-x7k2p"
    assert file.read_bytes() == b"PK..."
    assert [path.name for path in tmp_path.iterdir()] == ["log.zip"]


def test_what_is_missing_is_said(tmp_path: Path, server: ThreadingHTTPServer) -> None:
    """The server, the run, the log; and no file is left."""
    cluster = Fake(server.server_port)
    with pytest.raises(SparkgenError, match=r"no history server runs in analytics: copy the log"):
        fetch(Fake(server.server_port, ready=None), RUN, partial(own_files.write, tmp_path / "log.zip"))
    with pytest.raises(SparkgenError, match=r"spark-history-0 is not ready yet; try again"):
        fetch(Fake(server.server_port, ready="False"), RUN, partial(own_files.write, tmp_path / "log.zip"))
    del Handler.answers[LOGS]
    with pytest.raises(SparkgenError, match=r"spark-history-0 answers /api/v1/.*/logs with 404"):
        fetch(cluster, RUN, partial(own_files.write, tmp_path / "log.zip"))
    for body, message in (
        (b"[]", "no log of pi-1a2b3c4d: it reads new ones"),
        (b"<html>", "does not answer /api/v1/applications with a list"),
    ):
        Handler.answers["/api/v1/applications"] = body
        with pytest.raises(SparkgenError, match=message):
            fetch(cluster, RUN, partial(own_files.write, tmp_path / "log.zip"))
    assert [*tmp_path.iterdir()] == []


def test_a_list_that_never_ends_is_not_kept(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can label a pod of the namespace can answer as a history server."""
    monkeypatch.setattr(event_log, "LONGEST_LIST", 1 << 20)
    monkeypatch.setattr(Handler, "answers", {"/api/v1/applications": b"[" + b" " * (1 << 21) + b"]"})
    with pytest.raises(SparkgenError, match="lists more than 1 MiB of applications"):
        fetch(Fake(server.server_port), RUN, lambda _: None)


def test_a_list_of_a_hundred_thousand_levels_is_no_list(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told as any other answer that is none."""
    monkeypatch.setattr(Handler, "answers", {"/api/v1/applications": b"[" * 100_000})
    with pytest.raises(SparkgenError, match="does not answer /api/v1/applications with a list"):
        fetch(Fake(server.server_port), RUN, lambda _: None)


def test_an_id_that_no_run_has_is_not_requested(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters that no path may have, and a path elsewhere."""
    ids = ["pi-1a2b3c4d-é", "pi-1a2b3c4d-\ud800", "pi-1a2b3c4d-/../x", "pi-1a2b3c4d-a b"]
    known = json.dumps([{"id": id_} for id_ in ids]).encode()
    monkeypatch.setattr(Handler, "answers", {"/api/v1/applications": known})
    with pytest.raises(SparkgenError, match="no log of pi-1a2b3c4d"):
        fetch(Fake(server.server_port), RUN, lambda _: None)


def test_a_part_of_a_log_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what is missing."""
    known = b'[{"id": "pi-1a2b3c4d-a"}]'
    answers = iter(
        [
            b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(known), known),
            b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nPK...",
        ]
    )
    cluster = Fake(0)
    monkeypatch.setattr(cluster, "forward", lambda *_: Played([next(answers)]))
    with pytest.raises(SparkgenError, match="does not answer: the answer broke off 895 bytes before its end"):
        fetch(cluster, RUN, partial(own_files.write, tmp_path / "log.zip"))
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_cannot_be_written_is_not_the_servers_fault(
    tmp_path: Path, server: ThreadingHTTPServer
) -> None:
    """The message names the file, and what the file system refused."""
    file = tmp_path / "none" / "log.zip"
    with pytest.raises(SparkgenError, match=r"cannot write .*/none/log\.zip: No such file or directory"):
        fetch(Fake(server.server_port), RUN, partial(own_files.write, file))
