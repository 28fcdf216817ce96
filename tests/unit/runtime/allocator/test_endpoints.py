"""The allocator's two listeners, and those who would keep others from them."""

from __future__ import annotations

import hashlib
import json
import select
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from sparkgen.runtime.allocator import endpoints
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget
from tests.unit.runtime.clients import connection, said

EXECUTORS = range(1, 21)


def mailbox_that_lets_start(*ids: int) -> DriverMailbox:
    """A mailbox whose loop has made a round in which these executors may start."""
    mailbox = DriverMailbox("t", time.monotonic)
    decision = AllocationDecision(AllocatorMemory(), "a test", start=frozenset(ids))
    assert mailbox.commit(Round(time.monotonic(), Snapshot(), DriverTarget(), AllocationSettings(), decision))
    return mailbox


def slow_facts() -> Any:
    """What /status needs takes its time, and then fails."""
    time.sleep(0.05)
    raise ZeroDivisionError


@pytest.fixture
def port() -> Iterator[int]:
    """Where the listener for executors and probes is; executors 1 to 20 may start."""
    public = endpoints.PublicEndpoint(mailbox_that_lets_start(*EXECUTORS), slow_facts)
    listener = endpoints.listen("127.0.0.1", 0, endpoints.public_handler(public))
    yield listener.port
    listener.close()


def ask(port: int, path: str, source: str = "127.0.0.1") -> tuple[int, float]:
    """The status of the answer (0: none), and how many seconds it took."""
    began = time.monotonic()
    with closing(connection(port, source)) as one:
        one.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answer = said(one)
    return int(answer.split()[1]) if answer else 0, time.monotonic() - began


@pytest.mark.parametrize(
    "says",
    [
        b"",
        b"GET /healthz HT",
        b"GET /v1/executors/99/start HTTP/1.0\r\n\r\n",
        b"GET /status HTTP/1.0\r\n\r\n",
        b"GET /metrics HTTP/1.0\r\nX: ",
    ],
    ids=["silent", "slow", "words", "pages", "slow pages"],
)
def test_probes_and_start_words_in_spite_of_neighbours(port: int, says: bytes) -> None:
    """Two hundred of them with four connections each: whoever has a word to get gets it at once."""
    with ExitStack() as stack:
        for number in range(200):
            for _ in range(4):
                one = stack.enter_context(closing(connection(port, f"127.0.7.{number + 1}")))
                one.sendall(says)
        for id_ in EXECUTORS:
            status, seconds = ask(port, f"/v1/executors/{id_}/start", f"127.0.9.{id_}")
            assert (status, seconds < 2) == (200, True)
        for path in ("/healthz", "/readyz"):
            status, seconds = ask(port, path)
            assert (status, seconds < 2) == (200, True)
        assert sum(thread.name == "word" for thread in threading.enumerate()) <= endpoints.MAX_WAITING
        assert sum(thread.name == "page" for thread in threading.enumerate()) <= 1


def test_questions_are_held_while_there_is_room(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of an address is told at once to come again."""
    monkeypatch.setattr(endpoints, "HOLD_SECONDS", 2.0)
    share = endpoints.MAX_WAITING_PER_ADDRESS
    with ExitStack() as stack:
        ones = [stack.enter_context(closing(connection(port))) for _ in range(share + 4)]
        for one in ones:
            one.sendall(b"GET /v1/executors/99/start HTTP/1.0\r\n\r\n")
        time.sleep(1)
        answered, _, _ = select.select(ones, [], [], 0)
        assert len(answered) == 4
        assert all(b" 202 " in said(one) for one in ones)


def test_people_are_told_what_there_is(port: int) -> None:
    """And a fault of ours is an answer."""
    assert [ask(port, path)[0] for path in ("/", "/status", "/metrics")] == [404, 500, 500]
    with closing(connection(port)) as one:
        one.sendall(b"POST /status HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345")
        assert b" 405 " in said(one)


@pytest.fixture
def loopback() -> Iterator[int]:
    """Where the listener for the scheduler jar is; the token is "secret"."""
    handler = endpoints.driver_handler(
        DriverMailbox("t", time.monotonic), hashlib.sha256(b"secret").hexdigest()
    )
    listener = endpoints.listen("127.0.0.1", 0, handler, endpoints.DRIVER_LIMITS)
    yield listener.port
    listener.close()


def put(port: int, length: int, token: str, body: bytes = b"") -> tuple[int, str]:
    """The answer to a state: its status, and the error in it."""
    with closing(connection(port)) as one:
        head = f"PUT /v1/state HTTP/1.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
        one.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + body)
        answer = said(one)
    return int(answer.split()[1]), json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_the_token_comes_before_the_body(loopback: int) -> None:
    """Nothing of the body is waited for, and one that comes all the same does not take the answer with it."""
    for body in (b"", bytes(protocol.MAX_BODY)):
        status, error = put(loopback, protocol.MAX_BODY, "guess", body)
        assert status == 401
        assert "spark.sparkgen.tokenFile" in error


def test_a_body_that_is_too_long_is_not_read(loopback: int) -> None:
    """Before anything of it has come."""
    status, error = put(loopback, protocol.MAX_BODY + 1, "secret")
    assert (status, error) == (
        400,
        "the body must have 0 to 2097152 bytes, and a Content-Length",
    )


def test_a_body_that_is_long_enough_is_read(loopback: int) -> None:
    """Up to the last byte that is allowed; and what is no JSON is told, however deep it is."""
    for body in (b" " * protocol.MAX_BODY, b"[" * protocol.MAX_BODY):
        status, error = put(loopback, protocol.MAX_BODY, "secret", body)
        assert status == 400
        assert error.startswith("the state is not JSON: ")


class ConnectServer:
    """What the Connect server says, after so many seconds; counts how often it was asked."""

    def __init__(self, why: str = "", seconds: float = 0.0) -> None:
        self.why = why
        self.seconds = seconds
        self.asked = 0

    def __call__(self) -> str:
        """Answer, as connect_server.why_not_serving does."""
        self.asked += 1
        time.sleep(self.seconds)
        return self.why


@contextmanager
def connect_listener(server: ConnectServer) -> Iterator[int]:
    """Where the allocator of a Connect server listens."""
    connect = endpoints.ConnectEndpoint(server, time.monotonic)
    public = endpoints.PublicEndpoint(mailbox_that_lets_start(), slow_facts, connect)
    listener = endpoints.listen("127.0.0.1", 0, endpoints.public_handler(public))
    try:
        yield listener.port
    finally:
        listener.close()


def test_whether_the_connect_server_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    """200, or 503 with a line that says why; what was fresh a moment ago is asked again."""
    monkeypatch.setattr(endpoints, "FRESH_SECONDS", 0.0)
    server = ConnectServer()
    with connect_listener(server) as port:
        assert ask_all(port) == (200, "ok\n")
        server.why = "the Connect server is not listening yet"
        assert ask_all(port) == (503, "the Connect server is not listening yet\n")
        server.why = ""
        assert ask_all(port) == (200, "ok\n")
    assert server.asked == 3


def test_a_server_whose_spark_has_stopped_does_not_serve() -> None:
    """Its port still answers: the process has not ended."""
    mailbox = mailbox_that_lets_start()
    mailbox.receive(DriverTarget(session="s", revision=1, phase=DriverPhase.STOPPED))
    connect = endpoints.ConnectEndpoint(ConnectServer(), time.monotonic)
    handler = endpoints.public_handler(endpoints.PublicEndpoint(mailbox, slow_facts, connect))
    listener = endpoints.listen("127.0.0.1", 0, handler)
    assert ask_all(listener.port) == (503, "Spark has stopped in the driver\n")
    listener.close()


def ask_all(port: int) -> tuple[int, str]:
    """The status and the content of the answer to /connect."""
    with closing(connection(port)) as one:
        one.sendall(b"GET /connect HTTP/1.1\r\nHost: x\r\n\r\n")
        head, _, body = said(one).partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


def test_only_the_allocator_of_a_connect_server_answers_for_it(port: int) -> None:
    """Elsewhere there is no such page."""
    assert ask(port, "/connect")[0] == 404


def test_many_questions_make_a_handful_of_exchanges() -> None:
    """They share one that is under way, and whoever comes within a second has its answer."""
    server = ConnectServer(seconds=0.3)
    with connect_listener(server) as port, ExitStack() as stack:
        for number in range(200):
            one = stack.enter_context(closing(connection(port, f"127.0.8.{number + 1}")))
            one.sendall(b"GET /connect HTTP/1.0\r\n\r\n")
        assert ask(port, "/connect")[0] in (200, 503)
        assert sum(thread.name == "connect" for thread in threading.enumerate()) <= 1
        time.sleep(0.5)
        assert ask(port, "/connect")[0] == 200
    assert server.asked <= 3


@pytest.mark.parametrize(("why", "status"), [("", 200), ("it gave no answer", 503)])
def test_a_probe_has_its_answer_in_spite_of_neighbours(
    monkeypatch: pytest.MonkeyPatch, why: str, status: int
) -> None:
    """Where all places are taken, it is the last that is known, at once."""
    monkeypatch.setattr(endpoints, "FRESH_SECONDS", 0.0)
    server = ConnectServer(why)
    with connect_listener(server) as port, ExitStack() as stack:
        assert ask(port, "/connect")[0] == status
        server.seconds = 4.0
        ones = [
            stack.enter_context(closing(connection(port, f"127.0.8.{number + 1}"))) for number in range(200)
        ]
        for one in ones:
            one.sendall(b"GET /connect HTTP/1.0\r\n\r\n")
        places, deadline = endpoints.PROBES_WAITING + 1, time.monotonic() + 5
        while len(select.select(ones, [], [], 0)[0]) < len(ones) - places:
            assert time.monotonic() < deadline, "the others have their answer at once"
            time.sleep(0.01)
        found, seconds = ask(port, "/connect", "127.0.8.1")
        assert (found, seconds < 2) == (status, True)
        for path in ("/healthz", "/readyz"):
            found, seconds = ask(port, path)
            assert (found, seconds < 2) == (200, True)
        server.seconds = 0.0
    assert server.asked < 100
