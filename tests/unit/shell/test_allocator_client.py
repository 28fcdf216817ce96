"""What a session's allocator answers, or something else in its place: taken in, or refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.shell.allocator_client import AllocatorClient
from sparkgen.shell.driver_address import DriverAddress

GOOD = {"version": 1, "properties": {"spark.a": "b"}, "podAddress": "10.88.0.7", "allocatorPort": 7091}


class Answering(ThreadingHTTPServer):
    """Answers everything with one text."""

    daemon_threads = True
    text = b""


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_PUT(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.text)))
        self.end_headers()
        self.wfile.write(self.server.text)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def answering() -> Iterator[Answering]:
    """A server that is up."""
    made = Answering(("127.0.0.1", 0), _Handler)
    Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def told(answering: Answering, answer: object) -> Any:
    """What is made of an answer."""
    answering.text = json.dumps(answer).encode()
    client = AllocatorClient(answering.server_port, "t")
    return client.tell_driver(DriverAddress("10.1.2.3", 7078, 7079), "0" * 32)


def test_an_answer_is_taken_in(answering: Answering) -> None:
    """As values; fields that nobody knows are left alone."""
    found = told(answering, {**GOOD, "more": 1})
    assert (found.properties, found.pod_address, found.allocator_port) == (
        {"spark.a": "b"},
        "10.88.0.7",
        7091,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"properties": None},
        {"properties": {"spark.a": "\ud800"}},
        {"podAddress": "pod.example"},
        {"podAddress": "\x1b[2J"},
        {"podAddress": None},
        {"allocatorPort": 65536},
        {"allocatorPort": "x"},
    ],
)
def test_what_no_allocator_says_is_refused_in_words(answering: Answering, change: dict[str, Any]) -> None:
    """And nothing of it reaches a terminal as it is."""
    with pytest.raises(
        SparkgenError, match="the session's allocator sent an answer that this version does not understand"
    ) as caught:
        told(answering, {**GOOD, **change})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("answer", [[], None, "x", {}])
def test_another_form_is_refused_in_words(answering: Answering, answer: object) -> None:
    """Something else answers at the port."""
    with pytest.raises(
        SparkgenError, match="the session's allocator sent an answer that this version does not understand"
    ):
        told(answering, answer)
