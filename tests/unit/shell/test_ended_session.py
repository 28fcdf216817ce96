"""Who answers in the place of an allocator that is gone, and what others of the machine may send it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress

import pytest

from sparkgen.live import peers
from sparkgen.live.peers import GONE
from sparkgen.live.tunnel import LOOPBACK
from sparkgen.runtime.httpserver.listening import Listener, listening_socket
from sparkgen.shell.ended_session import LIMITS, refuse_everything


@pytest.fixture
def ended() -> Iterator[Listener]:
    """One that answers."""
    with closing(refuse_everything(listening_socket(LOOPBACK, 0), "[SessionEnded] over")) as listener:
        yield listener


def asked(listener: Listener, request: bytes) -> bytes:
    """The answer to a request, after which nothing more is sent."""
    with closing(socket.create_connection((LOOPBACK, listener.port), 5)) as one:
        one.sendall(request)
        return one.makefile("rb").read()


@pytest.mark.parametrize("length", [b"3", b"999999999999999"])
def test_a_drivers_state_is_refused_with_the_reason(ended: Listener, length: bytes) -> None:
    """Whatever it says, and before all of it has arrived."""
    found = asked(ended, b"PUT /v1/state HTTP/1.0\r\nContent-Length: " + length + b"\r\n\r\nabc")
    assert b" 409 " in found.partition(b"\r\n")[0]
    assert json.loads(found.partition(b"\r\n\r\n")[2]) == {"error": "[SessionEnded] over"}


def test_idle_connections_of_others_do_not_keep_the_driver_out(ended: Listener) -> None:
    """The oldest of them is closed."""
    with ExitStack() as stack:
        idle = [
            stack.enter_context(closing(socket.create_connection((LOOPBACK, ended.port), 5)))
            for _ in range(LIMITS.connections)
        ]
        assert b" 409 " in asked(ended, b"GET / HTTP/1.0\r\n\r\n")
        assert idle[0].recv(1) == b""


@pytest.mark.parametrize(
    ("uid", "answers"), [(os.getuid(), True), (None, True), (4711, False), (GONE, False)]
)
def test_connections_of_other_users_are_closed(
    ended: Listener, monkeypatch: pytest.MonkeyPatch, uid: int | None, answers: bool
) -> None:
    """As at the forwarded port before; where the kernel tells no user, all are accepted."""
    monkeypatch.setattr(peers, "user_of", lambda *_: uid)
    with suppress(ConnectionError):
        assert (b" 409 " in asked(ended, b"GET / HTTP/1.0\r\n\r\n")) == answers
        return
    assert not answers
