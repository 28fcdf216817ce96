"""The listener at the pod's address, and those who would keep others from it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from sparkgen.allocator import server
from sparkgen.allocator.desk import Desk
from sparkgen.allocator.seats import Seats, is_loopback


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where a listener with four threads waits for a third of a second for a request."""
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 4)
    facts: Any = lambda: pytest.fail("nobody asks for them here")  # noqa: E731
    public = server.Public(Desk("t", time.monotonic), facts, threading.BoundedSemaphore(1))
    listener = server.listen("127.0.0.1", 0, server.public_handler(public))
    yield listener.port
    listener.close()


def connection(port: int) -> socket.socket:
    """A connection that is open."""
    return socket.create_connection(("127.0.0.1", port), 5)


def said(one: socket.socket) -> bytes:
    """All that the other side says until it closes."""
    parts = []
    try:
        while part := one.recv(4096):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def drip(one: socket.socket) -> None:
    """Say a byte now and then, for three seconds or as long as the other side listens."""
    with suppress(OSError):
        for _ in range(60):
            one.sendall(b"G")
            time.sleep(0.05)


def ask(port: int, headers: str = "") -> bytes:
    """The answer to a question for its health."""
    with closing(connection(port)) as one:
        one.sendall(f"GET /healthz HTTP/1.1\r\nHost: x\r\n{headers}\r\n".encode())
        return said(one)


def test_a_slow_request_has_one_deadline(port: int) -> None:
    """A byte now and then does not put it off; nothing is answered."""
    with closing(connection(port)) as one:
        began = time.monotonic()
        sender = threading.Thread(target=drip, args=(one,), daemon=True)
        sender.start()
        assert said(one) == b""
        assert time.monotonic() - began < 2
        sender.join(5)


def test_slow_ones_do_not_hold_the_listener(port: int) -> None:
    """When all threads wait for slow requests, they are free again within the deadline."""
    slow = [connection(port) for _ in range(4)]
    for one in slow:
        one.sendall(b"GET /healthz HT")
    time.sleep(0.1)
    assert ask(port).startswith(b"HTTP/1.0 503")
    time.sleep(0.6)
    assert b" 200 " in ask(port).splitlines()[0]
    assert [said(one) for one in slow] == [b""] * 4
    for one in slow:
        one.close()


@pytest.mark.parametrize("headers", ["", "Connection: keep-alive\r\n"])
def test_a_connection_is_for_one_question(port: int, headers: str) -> None:
    """It is closed after the answer, whatever was asked for: `said` ends."""
    began = time.monotonic()
    assert ask(port, headers).endswith(b"ok\n")
    assert time.monotonic() - began < 2


def test_a_request_in_pieces_is_read(port: int) -> None:
    """A head may come in several packets."""
    with closing(connection(port)) as one:
        for part in (b"GET /hea", b"lthz HTTP/1.0\r\nHost", b": x\r\n\r", b"\n"):
            one.sendall(part)
            time.sleep(0.02)
        assert said(one).endswith(b"ok\n")


def test_a_head_without_end_is_not_read(port: int) -> None:
    """What is longer than any question here is closed, not kept."""
    with closing(connection(port)) as one:
        try:
            one.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (server.MAX_HEAD + 1))
        except OSError:
            return
        assert said(one) == b""


def test_one_address_has_a_share() -> None:
    """A stranger who opens as many as it can leaves room for others; loopback may have all."""
    seats = Seats(6, 2)
    assert [seats.take("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert [seats.take("10.0.0.2") for _ in range(3)] == [True, True, False]
    assert [seats.take("::ffff:127.0.0.1") for _ in range(3)] == [True, True, False]
    seats.leave("10.0.0.1")
    assert not seats.take("10.0.0.2")
    assert [seats.take("127.0.0.1") for _ in range(2)] == [True, False]


def test_loopback_has_several_names() -> None:
    """Versions 4, 6, and 4 within 6."""
    assert all(map(is_loopback, ("127.0.0.1", "127.0.0.6", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("10.0.0.1", "fd00::7", "fe80::1%eth0", "::ffff:10.0.0.1")))


def test_the_share_holds_where_it_is_listened(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Connections of one address that is not loopback are told to come again beyond its share."""
    monkeypatch.setattr("sparkgen.allocator.seats.is_loopback", lambda _: False)
    monkeypatch.setattr(server, "MAX_PER_ADDRESS", 2)
    facts: Any = None
    public = server.Public(Desk("t", time.monotonic), facts, threading.BoundedSemaphore(1))
    listener = server.listen("127.0.0.1", 0, server.public_handler(public))
    idle = [connection(listener.port) for _ in range(2)]
    time.sleep(0.1)
    assert ask(listener.port).startswith(b"HTTP/1.0 503")
    time.sleep(0.6)
    assert ask(listener.port).endswith(b"ok\n")
    for one in idle:
        one.close()
    listener.close()
