"""The server, and those who would keep others from it."""

from __future__ import annotations

import errno
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from sparkgen.runtime.httpserver import listening
from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.listening import Listener, listen
from sparkgen.runtime.httpserver.values import Handler, HttpRequest, HttpResponse, Work, text
from sparkgen.runtime.httpserver.workers import Workers
from tests.unit.runtime.clients import connection, said

SECOND = 1.0


@contextmanager
def serving(handler: Handler, limits: Limits | None = None, address: str = "127.0.0.1") -> Iterator[Listener]:
    """A server on a free port."""
    listener = listen(address, 0, handler, limits)
    try:
        yield listener
    finally:
        listener.close()
        assert not listener.thread.is_alive()


def ok(_: HttpRequest) -> HttpResponse:
    """Answer at once."""
    return text(200, "ok\n")


def ask(port: int, head: str = "GET / HTTP/1.0\r\n", body: bytes = b"", source: str = "127.0.0.1") -> bytes:
    """The answer to one request."""
    with closing(connection(port, source)) as one:
        one.sendall(head.encode() + b"\r\n" + body)
        return said(one)


def attackers(count: int) -> list[str]:
    """Addresses of other machines."""
    return [f"127.0.{number // 200 + 1}.{number % 200 + 1}" for number in range(count)]


class Flood:
    """Machines that open connections, each as many as it can, and say `says` on them.

    They open them again for as long as it lasts; but for `once`.
    """

    def __init__(
        self, port: int, addresses: list[str], each: int, says: bytes = b"", *, once: bool = False
    ) -> None:
        self.port, self.addresses, self.each, self.says, self.once = port, addresses, each, says, once
        self.held: dict[tuple[str, int], socket.socket] = {}
        self.opened = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Flood:
        self._thread.start()
        deadline = time.monotonic() + 20
        while self.opened < len(self.addresses) * self.each and time.monotonic() < deadline:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(20)
        for one in self.held.values():
            one.close()

    def _run(self) -> None:
        while not self._over.is_set():
            for address in self.addresses:
                for number in range(self.each):
                    if self._over.is_set():
                        return
                    with suppress(OSError):
                        one = connection(self.port, address)
                        one.sendall(self.says)
                        self.opened += 1
                        if before := self.held.pop((address, number), None):
                            before.close()
                        self.held[address, number] = one
                time.sleep(0.001)
            if self.once:
                return


@pytest.mark.parametrize("says", [b"", b"GET / HT"], ids=["silent", "slow"])
@pytest.mark.parametrize(("count", "each"), [(6, 32), (100, 4), (300, 1)])
def test_neighbours_that_hold_connections(count: int, each: int, says: bytes) -> None:
    """Machines as many as there are places, and more: who has something to ask is answered at once."""
    with (
        serving(ok, Limits(connections=128, per_address=32, head_seconds=60)) as listener,
        Flood(listener.port, attackers(count), each, says),
    ):
        for _ in range(10):
            began = time.monotonic()
            assert ask(listener.port).endswith(b"ok\n")
            assert time.monotonic() - began < SECOND
        assert threads("listen") == 1


def threads(name: str) -> int:
    """How many threads have a name that begins so."""
    return sum(thread.name.startswith(name) for thread in threading.enumerate())


def test_neighbours_that_do_not_take_their_answers() -> None:
    """What waits for them is bounded, and others are answered."""
    answer, pages = text(200, "x" * 8_000_000), Workers("page", 1, waiting=64)
    long: Handler = lambda _: Work(pages, lambda _: answer)  # noqa: E731
    handler: Handler = lambda request: (long if request.path == "/long" else ok)(request)  # noqa: E731
    with (
        serving(handler, Limits(sending=8, sending_per_address=2, send_seconds=60)) as listener,
        Flood(listener.port, attackers(10), 4, b"GET /long HTTP/1.0\r\n\r\n", once=True),
    ):
        for _ in range(10):
            assert ask(listener.port).endswith(b"ok\n")
        assert len(ask(listener.port, "GET /long HTTP/1.0\r\n")) > 8_000_000


def test_neighbours_that_do_not_take_long_answers() -> None:
    """However few connections there are, only so many bytes wait; whoever reads gets the whole answer."""
    answer = text(200, "x" * 8_000_000)
    limits = Limits(sending_bytes=20_000_000, send_seconds=60)
    with (
        serving(lambda _: answer, limits) as listener,
        Flood(listener.port, attackers(10), 1, b"GET /long HTTP/1.0\r\n\r\n", once=True),
    ):
        assert len(ask(listener.port)) > 8_000_000
        deadline = time.monotonic() + 10
        while unsent(listener) > 20_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert 8_000_000 < unsent(listener) <= 20_000_000


def unsent(listener: Listener) -> int:
    """The bytes of the answers that somebody has not taken yet."""
    return sum(one.answer_bytes for one in tuple(listener.server._open))


def test_one_answer_may_be_larger_than_all_together() -> None:
    """A large application's status is for whoever reads it."""
    with serving(lambda _: text(200, "x" * 8_000_000), Limits(sending_bytes=1_000)) as listener:
        assert len(ask(listener.port)) > 8_000_000


def test_neighbours_that_ask_for_what_takes_long() -> None:
    """Two threads for it, and others take turns; what needs no thread is answered at once."""
    release = threading.Event()
    pages = Workers("page", 2, waiting=16)

    def page(_: bytes) -> HttpResponse:
        release.wait(10)
        return text(200, "page\n")

    handler: Handler = lambda request: Work(pages, page) if request.path == "/page" else ok(request)  # noqa: E731
    with serving(handler) as listener:
        asking = [connection(listener.port, address) for address in attackers(20) for _ in range(3)]
        for one in asking:
            one.sendall(b"GET /page HTTP/1.0\r\n\r\n")
        assert ask(listener.port).endswith(b"ok\n")
        assert threads("page") == 2
        release.set()
        answers = [said(one).split()[1] for one in asking]
        assert set(answers) == {b"200", b"503"}
        assert answers.count(b"200") >= 18
        assert ask(listener.port, "GET /page HTTP/1.0\r\n").endswith(b"page\n")


def test_a_thousand_executors_at_once() -> None:
    """Each from its own address, in one burst: all are answered, none is taken for an attacker."""
    with serving(ok, Limits(connections=256)) as listener:
        found: list[bytes] = []

        def some(addresses: list[str]) -> None:
            ones = [connection(listener.port, address) for address in addresses]
            for one in ones:
                one.sendall(b"GET / HTTP/1.0\r\n\r\n")
            found.extend(said(one) for one in ones)
            for one in ones:
                one.close()

        addresses = attackers(1000)
        parts = [threading.Thread(target=some, args=(addresses[start::20],)) for start in range(20)]
        for part in parts:
            part.start()
        for part in parts:
            part.join(30)
        assert len(found) == 1000
        assert all(answer.endswith(b"ok\n") for answer in found)


def test_a_slow_request_has_one_deadline() -> None:
    """A byte now and then does not put it off; nothing is answered."""
    with (
        serving(ok, Limits(head_seconds=0.3)) as listener,
        closing(connection(listener.port)) as one,
    ):
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < 3:
                one.sendall(b"G")
                time.sleep(0.05)
        assert time.monotonic() - began < 2


def test_a_head_without_end_is_not_read() -> None:
    """What is longer than any question here is closed, not kept; also where its end comes in the end."""
    with serving(ok, Limits(head_bytes=1000)) as listener:
        assert ask(listener.port, "GET / HTTP/1.1\r\nX: " + "x" * 5000 + "\r\n") == b""
        with closing(connection(listener.port)) as one, suppress(OSError):
            one.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 5000)
            assert said(one) == b""


def test_a_request_in_pieces_is_read() -> None:
    """A head may come in several packets, cut anywhere."""
    with serving(ok) as listener, closing(connection(listener.port)) as one:
        for part in (b"GET /hea", b"lthz HTTP/1.0\r\nHost", b": x\r\n\r", b"\n"):
            one.sendall(part)
            time.sleep(0.02)
        assert said(one).endswith(b"ok\n")


@pytest.mark.parametrize("headers", ["", "Connection: keep-alive\r\n"])
def test_a_connection_is_for_one_question(headers: str) -> None:
    """It is closed after the answer, whatever was asked for: `said` ends."""
    with serving(ok) as listener:
        began = time.monotonic()
        assert ask(listener.port, f"GET / HTTP/1.1\r\n{headers}").endswith(b"ok\n")
        assert time.monotonic() - began < 2


def test_a_client_that_says_no_more_is_answered() -> None:
    """`nc` closes its side when it has asked."""
    with serving(ok) as listener, closing(connection(listener.port)) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        one.shutdown(socket.SHUT_WR)
        assert said(one).endswith(b"ok\n")


def echo(workers: Workers) -> Handler:
    """Answers with the body, for who knows the word."""

    def handler(request: HttpRequest) -> HttpResponse | Work:
        if request.headers.get("authorization") != "word":
            return text(401, "no\n")
        return Work(workers, lambda body: HttpResponse(200, body), reads_body=True)

    return handler


BODIES = Limits(body_bytes=1000, idle_seconds=5.0, head_seconds=5.0)


def test_several_requests_on_a_connection() -> None:
    """With bodies, and in advance: answered in order."""
    head = "PUT / HTTP/1.1\r\nAuthorization: word\r\nContent-Length: {}\r\n\r\n{}"
    with (
        serving(echo(Workers("w", 2)), BODIES) as listener,
        closing(connection(listener.port)) as one,
    ):
        one.sendall("".join(head.format(len(body), body) for body in ("one", "", "three")).encode())
        one.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        answers = said(one)
    assert [part.split(b"\r\n")[0] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200 OK"] * 3 + [
        b"401 Unauthorized"
    ]
    assert answers.index(b"one") < answers.index(b"three")


def test_who_has_no_right_is_told_before_the_body_comes() -> None:
    """And sees the answer, though it goes on sending: the socket is not closed on unread bytes."""
    head = "PUT / HTTP/1.1\r\nContent-Length: 4000000\r\n"
    with serving(echo(Workers("w", 2)), BODIES) as listener:
        with closing(connection(listener.port)) as one:
            one.sendall(head.encode() + b"\r\n")
            assert b" 401 " in one.recv(1000)
        assert b" 401 " in ask(listener.port, head, bytes(4_000_000))


def test_bodies_have_a_bound_together() -> None:
    """Who has the right cannot fill the memory either: what is announced counts."""
    head = "PUT / HTTP/1.1\r\nAuthorization: word\r\nConnection: close\r\nContent-Length: {}\r\n"
    with serving(echo(Workers("w", 2)), BODIES) as listener:
        assert b" 503 " in ask(listener.port, head.format(1001))
        with closing(connection(listener.port)) as one:
            one.sendall(head.format(900).encode() + b"\r\nx")
            time.sleep(0.1)
            assert b" 503 " in ask(listener.port, head.format(200))
        time.sleep(0.1)
        assert ask(listener.port, head.format(900), bytes(900)).endswith(bytes(900))


def test_a_client_that_asks_before_it_sends() -> None:
    """As curl does, for bodies of a megabyte."""
    with (
        serving(echo(Workers("w", 2)), BODIES) as listener,
        closing(connection(listener.port)) as one,
    ):
        one.sendall(
            b"PUT / HTTP/1.1\r\nAuthorization: word\r\nConnection: close\r\n"
            b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        )
        assert one.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        one.sendall(b"abc")
        assert said(one).endswith(b"abc")


def test_what_cannot_be_read_is_told() -> None:
    """A browser that speaks TLS, for one."""
    with serving(ok) as listener:
        assert ask(listener.port, "hello\r\n").startswith(b"HTTP/1.1 400 Bad Request")


@pytest.mark.parametrize("where", ["handler", "worker"])
def test_a_fault_of_ours_is_one_answer(where: str) -> None:
    """And the next question is answered."""
    workers = Workers("w", 1)

    def fail(_: object) -> HttpResponse:
        raise ZeroDivisionError

    handlers: dict[str, Callable[[HttpRequest], HttpResponse | Work]] = {
        "handler": fail,
        "worker": lambda _: Work(workers, fail),
    }
    with serving(handlers[where]) as listener:
        for _ in range(2):
            assert b" 500 " in ask(listener.port)


def test_both_versions_of_ip() -> None:
    """One listener for all addresses of a machine."""
    for address in ("", "0.0.0.0", "::"):  # noqa: S104 - in a test
        with serving(ok, address=address) as listener:
            assert ask(listener.port).endswith(b"ok\n")
            if not has_ipv6():
                continue
            with closing(socket.create_connection(("::1", listener.port), 5)) as one:
                one.sendall(b"GET / HTTP/1.0\r\n\r\n")
                assert said(one).endswith(b"ok\n")


def has_ipv6() -> bool:
    """Whether this machine has it."""
    return Path("/proc/net/if_inet6").exists() and "lo" in Path("/proc/net/if_inet6").read_text()


@pytest.mark.parametrize("code", [errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL])
def test_a_kernel_without_ipv6(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Version 4 is enough then; any other trouble is told."""
    bound = listening._bound

    def without(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(code, "no")
        return bound(family, address, port)

    monkeypatch.setattr(listening, "_bound", without)
    with serving(ok, address="::") as listener:
        assert ask(listener.port).endswith(b"ok\n")
        with pytest.raises(OSError, match="in use"):
            listen("::", listener.port, ok)


def test_no_more_descriptors() -> None:
    """Silent ones go for those who come."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving(ok, Limits(head_seconds=60)) as listener, ExitStack() as stack:
        for address in attackers(20):
            stack.enter_context(closing(connection(listener.port, address)))
        while len(listener.server._open) < 20:
            time.sleep(0.01)
        taken: list[int] = []
        stack.callback(lambda: [os.close(one) for one in taken])
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 500), hard))
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        os.close(taken.pop())  # for the client
        for _ in range(5):
            assert ask(listener.port).endswith(b"ok\n")


def test_closing_sends_what_is_there() -> None:
    """Executors that wait are told to go just before."""
    release = threading.Event()
    workers = Workers("w", 1)

    def held(_: bytes) -> HttpResponse:
        release.wait(5)
        return text(410, "go\n")

    listener = listen("127.0.0.1", 0, lambda _: Work(workers, held))
    one = connection(listener.port)
    one.sendall(b"GET / HTTP/1.0\r\n\r\n")
    while not workers.busy:
        time.sleep(0.01)
    release.set()
    while workers.busy:
        time.sleep(0.01)
    listener.close()
    assert b" 410 " in said(one)
    with pytest.raises(OSError, match="refused"):
        connection(listener.port)
