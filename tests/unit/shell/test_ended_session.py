"""Who answers in the place of an allocator that is gone, and what others of the machine may send it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from sparkgen.live.tunnel import LOOPBACK
from sparkgen.shell import ended_session
from sparkgen.shell.ended_session import EndedSession


@pytest.fixture
def ended() -> Iterator[EndedSession]:
    """One that answers."""
    with closing(EndedSession(0, "[SessionEnded] over")) as server:
        server.start()
        yield server


def asked(server: EndedSession, request: bytes) -> bytes:
    """The answer to a request, after which nothing more is sent."""
    with closing(socket.create_connection((LOOPBACK, server.server_address[1]), 5)) as one:
        one.sendall(request)
        return one.makefile("rb").read()


def test_a_drivers_state_is_refused_with_the_reason(ended: EndedSession) -> None:
    """Whatever it says."""
    found = asked(ended, b"PUT /v1/state HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc")
    assert b" 409 " in found.partition(b"\r\n")[0]
    assert json.loads(found.partition(b"\r\n\r\n")[2]) == {"error": "[SessionEnded] over"}


@pytest.mark.parametrize("length", [b"-1", b"999999999999999"])
def test_only_so_much_is_read(ended: EndedSession, monkeypatch: pytest.MonkeyPatch, length: bytes) -> None:
    """It is answered then, however much is to come: nothing waits for the rest, or keeps it in memory."""
    monkeypatch.setattr(ended_session, "MOST_READ", 10)
    assert b" 409 " in asked(ended, b"PUT / HTTP/1.0\r\nContent-Length: " + length + b"\r\n\r\n0123456789")
