"""A port of this machine that leads elsewhere."""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import resource
import socket
import threading
from collections.abc import Iterator

import pytest

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live import peers
from sparkgen.live import tunnel as tunnel_module
from sparkgen.live.tunnel import FOREIGN, Tunnel


class Far:
    """A connection to a pod: what is written comes back in capital letters."""

    def __init__(self, problem: str | None = None) -> None:
        self.near, far = socket.socketpair()
        self.problem = problem
        threading.Thread(target=self._answer, args=(far,), daemon=True).start()

    def _answer(self, far: socket.socket) -> None:
        with far:
            while data := far.recv(100):
                far.sendall(data.upper())

    def socket(self, port_number: int) -> socket.socket:
        """The end that is on this machine."""
        return self.near

    def error(self, port_number: int) -> str | None:
        """What went wrong."""
        return self.problem

    def close(self) -> None:
        """End it."""
        self.near.close()


@pytest.fixture
def said() -> list[str]:
    """What a person was told."""
    return []


@pytest.fixture
def tunnel(said: list[str]) -> Iterator[Tunnel]:
    """A tunnel to such a connection."""
    made = Tunnel(0, 4040, lambda: Far("nobody listens\nthere"), said.append)
    made.start()
    yield made
    made.stop()


def ask(port: int, text: bytes) -> bytes:
    """What comes back until the end."""
    with socket.create_connection(("127.0.0.1", port), 5) as near:
        near.sendall(text)
        near.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: near.recv(100), b""))


def test_both_ways_and_several_at_once(tunnel: Tunnel, said: list[str]) -> None:
    """Each connection has one of its own; what went wrong at its end is said."""
    others = threading.enumerate()
    with socket.create_connection(("127.0.0.1", tunnel.port), 5) as first:
        first.sendall(b"a")
        assert first.recv(1) == b"A"
        with socket.create_connection(("127.0.0.1", tunnel.port), 5) as second:
            second.sendall(b"bc")
            assert second.recv(2, socket.MSG_WAITALL) == b"BC"
        first.sendall(b"d")
        assert first.recv(1) == b"D"
    for thread in threading.enumerate():
        if thread not in others:
            thread.join(5)
    assert said == ["nobody listens there"] * 2


def test_a_pod_that_is_not_there_is_said() -> None:
    """And the browser's connection ends."""
    said: list[str] = []

    def no() -> Far:
        raise ClusterError("cannot forward port 4040 of pod pi", 404)

    made = Tunnel(0, 4040, no, said.append)
    made.start()
    try:
        with contextlib.suppress(OSError):  # the question was not read
            assert ask(made.port, b"a question") == b""
        assert said == ["cannot forward port 4040 of pod pi"]
    finally:
        made.stop()


def test_a_connection_that_is_silent_for_long_ends() -> None:
    """As when the server is gone without a word: the browser is told, and may ask again."""
    near, far = socket.socketpair()

    class Hung(Far):
        def __init__(self) -> None:
            self.near, self.problem = near, None

    made = Tunnel(0, 4040, Hung, print, silence=0.2)
    made.start()
    try:
        with socket.create_connection(("127.0.0.1", made.port), 5) as browser:
            browser.sendall(b"a question")
            assert far.recv(100) == b"a question"
            assert browser.recv(1) == b""
            assert far.recv(1) == b""
    finally:
        far.close()
        made.stop()


def test_a_taken_port_is_words(tunnel: Tunnel) -> None:
    """With another one to choose."""
    with pytest.raises(SparkgenError, match=rf"cannot listen on 127.0.0.1:{tunnel.port}: .*--port 0"):
        Tunnel(tunnel.port, 4040, Far, print)


@contextlib.contextmanager
def counted() -> Iterator[tuple[Tunnel, list[Far]]]:
    """A tunnel, and the connections that it opened to the pod."""
    opened: list[Far] = []

    def open_() -> Far:
        opened.append(Far())
        return opened[-1]

    made = Tunnel(0, 4040, open_, print)
    made.start()
    try:
        yield made, opened
    finally:
        made.stop()


def heard(near: socket.socket, text: bytes) -> bytes:
    """What comes back for a text."""
    near.sendall(text)
    return near.recv(len(text), socket.MSG_WAITALL)


def last(near: socket.socket) -> bytes:
    """What comes back, if anything does."""
    with contextlib.suppress(ConnectionError):
        return near.recv(1)
    return b""


def test_idle_connections_of_others_take_nothing_away() -> None:
    """None is opened to the pod, the oldest of them are closed, and used and new connections work."""
    with counted() as (made, opened), contextlib.ExitStack() as stack:

        def connected() -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", made.port), 5))

        used = connected()
        assert heard(used, b"a") == b"A"
        idle = [connected() for _ in range(tunnel_module.WAITING + 5)]
        assert [one.recv(1) for one in idle[:5]] == [b""] * 5
        assert heard(connected(), b"b") == b"B"
        assert heard(used, b"c") == b"C"
        assert len(opened) == 2


def test_of_too_many_used_connections_the_idle_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here and at the pod; another with data stays."""
    monkeypatch.setattr(tunnel_module, "USED", 2)
    with counted() as (made, opened), contextlib.ExitStack() as stack:
        first, second, third = (
            stack.enter_context(socket.create_connection(("127.0.0.1", made.port), 5)) for _ in range(3)
        )
        assert (heard(first, b"a"), heard(second, b"b"), heard(first, b"c")) == (b"A", b"B", b"C")
        assert heard(third, b"d") == b"D"
        assert second.recv(1) == b""
        assert heard(first, b"e") == b"E"
        assert len(opened) == 3


def test_a_connection_that_cannot_be_used_is_closed() -> None:
    """The official client raises an error for a port that it does not forward."""
    closed = threading.Event()

    class Without(Far):
        def socket(self, port_number: int) -> socket.socket:
            raise ValueError("Invalid port number")

        def close(self) -> None:
            super().close()
            closed.set()

    made = Tunnel(0, 4040, Without, print)
    made.start()
    try:
        with contextlib.suppress(OSError):
            assert ask(made.port, b"a question") == b""
        assert closed.wait(60)
    finally:
        made.stop()


def test_descriptors_above_1024_are_passed_on() -> None:
    """A process with many open files has no others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1100), hard))

    class High(Far):
        def __init__(self) -> None:
            super().__init__()
            low = self.near.detach()
            self.near = socket.socket(fileno=fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 1024))
            socket.close(low)

    made = Tunnel(0, 4040, High, print)
    made.start()
    try:
        with socket.create_connection(("127.0.0.1", made.port), 5) as near:
            assert heard(near, b"abc") == b"ABC"
    finally:
        made.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("user", "words"), [(os.getuid() + 1, [FOREIGN]), (peers.GONE, [])])
def test_connections_of_other_users_are_closed_at_once(
    monkeypatch: pytest.MonkeyPatch, user: int, words: list[str]
) -> None:
    """With a byte or without: none takes a place or a thread, or leads to the pod."""
    said: list[str] = []
    opened: list[Far] = []

    def open_() -> Far:
        opened.append(Far())
        return opened[-1]

    made = Tunnel(0, 4040, open_, said.append)
    entered: list[socket.socket] = []
    monkeypatch.setattr(made.places, "enter", entered.append)
    monkeypatch.setattr(peers, "user_of", lambda client, server: user)
    made.start()
    try:
        with contextlib.suppress(OSError):  # the question was not read
            assert ask(made.port, b"a question") == b""
        assert (said, entered, opened) == (words, [], [])
    finally:
        made.stop()


def test_connections_without_a_place_do_not_wait_for_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """They end while another one is opened, and are not opened themselves."""
    monkeypatch.setattr(tunnel_module, "USED", 2)
    go, opened, left = threading.Event(), queue.Queue[Far](), queue.Queue[object]()

    def open_() -> Far:
        opened.put(Far())
        go.wait(60)
        return Far()

    made = Tunnel(0, 4040, open_, print)
    leave = made.places.leave

    def leaving(connection: socket.socket) -> None:
        leave(connection)
        left.put(connection)

    monkeypatch.setattr(made.places, "leave", leaving)
    made.start()
    with contextlib.ExitStack() as stack:
        stack.callback(made.stop)
        stack.callback(go.set)
        ends = [stack.enter_context(socket.create_connection(("127.0.0.1", made.port), 5)) for _ in range(6)]
        ends[0].sendall(b"a")
        opened.get(timeout=60)  # and is not yet ready
        for end in ends[1:]:
            end.sendall(b"a")
        for _ in range(3):
            left.get(timeout=10)
        go.set()
        answers = [last(end) for end in ends]
        assert (sorted(answers), answers[0]) == ([b"", b"", b"", b"", b"A", b"A"], b"")
    assert opened.qsize() == 2
