"""The question to a Connect server, against small servers that answer well, badly, or not at all."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import repeat

import h2.config
import h2.connection
import h2.events
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.allocator.driver import connect_server
from sparkgen.runtime.allocator.driver.connect_server import why_not_serving

Headers = list[tuple[str, str]]

OK: Headers = [(":status", "200"), ("content-type", "application/grpc")]
UNIMPLEMENTED: Headers = [*OK, ("grpc-status", "12"), ("grpc-message", "Method not found")]
UNAUTHENTICATED: Headers = [*OK, ("grpc-status", "16"), ("grpc-message", "No token given")]
PREFACE = bytes.fromhex("000000040000000000")
"""The SETTINGS frame that a server begins with."""


def have_ipv6() -> bool:
    """Whether loopback has an IPv6 address."""
    with suppress(OSError), closing(socket.create_server(("::1", 0), family=socket.AF_INET6)):
        return True
    return False


@contextmanager
def server(serve: Callable[[socket.socket], None], address: str = "127.0.0.1") -> Iterator[int]:
    """The port of a server that does this with each connection, one after the other."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    stopping = threading.Event()

    def run() -> None:
        while not stopping.is_set():
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    connection.settimeout(10)
                    serve(connection)

    with closing(socket.create_server((address, 0), family=family)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            stopping.set()
            thread.join(15)
    assert not thread.is_alive()


class Answers:
    """Serves HTTP/2: the first block of headers is the response, others are trailers."""

    def __init__(self, *blocks: Headers, body: bytes = b"") -> None:
        self.blocks = blocks
        self.body = body
        """`asked` has each request: its headers and its content."""
        self.asked: list[tuple[dict[bytes, bytes], bytes]] = []

    def __call__(self, connection: socket.socket) -> None:
        """Answer one request."""
        peer = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, validate_outbound_headers=False)
        )
        peer.initiate_connection()
        connection.sendall(peer.data_to_send())
        headers: dict[bytes, bytes] = {}
        content = b""
        while data := connection.recv(65536):
            for event in peer.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    headers = dict(event.headers)
                elif isinstance(event, h2.events.DataReceived):
                    content += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    self.asked.append((headers, content))
                    self._answer(peer, event.stream_id)
            connection.sendall(peer.data_to_send())

    def _answer(self, peer: h2.connection.H2Connection, stream: int) -> None:
        for number, block in enumerate(self.blocks, 1):
            peer.send_headers(stream, block, end_stream=number == len(self.blocks))
            if number == 1 and self.body:
                peer.send_data(stream, self.body)


def sends(*parts: bytes, pause: float = 0.0) -> Callable[[socket.socket], None]:
    """A server that reads something, sends this, and then waits until the client closes."""

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        while connection.recv(65536):
            pass

    return serve


def sends_for_ever(part: bytes) -> Callable[[socket.socket], None]:
    """A server that never stops."""

    def serve(connection: socket.socket) -> None:
        connection.sendall(PREFACE)
        for one in repeat(part):
            connection.sendall(one)

    return serve


def closes(connection: socket.socket) -> None:
    """Take the request, and close."""
    connection.recv(65536)


def resets(connection: socket.socket) -> None:
    """Break the connection off."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def frame(kind: int, flags: int, stream: int, content: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113, 4.1)."""
    return struct.pack(">I", len(content))[1:] + struct.pack(">BBI", kind, flags, stream) + content


@pytest.mark.parametrize(
    "answers",
    [
        Answers(UNIMPLEMENTED),
        Answers(UNAUTHENTICATED),
        Answers(OK, [("grpc-status", "0")], body=bytes.fromhex("00000000020801")),
    ],
    ids=["no such service", "a token is asked for", "a health service"],
)
def test_whatever_has_a_grpc_status_serves(answers: Answers) -> None:
    """As trailers alone, or behind a message. The question is gRPC's: an empty message, with its headers."""
    with server(answers) as port:
        assert why_not_serving("127.0.0.1", port) == ""
    ((headers, content),) = answers.asked
    assert content == bytes(5)
    assert headers == {
        b":method": b"POST",
        b":scheme": b"http",
        b":path": b"/grpc.health.v1.Health/Check",
        b":authority": f"127.0.0.1:{port}".encode(),
        b"content-type": b"application/grpc",
        b"te": b"trailers",
    }


@pytest.mark.skipif(not have_ipv6(), reason="this machine has no IPv6")
def test_a_pod_with_ipv6() -> None:
    """The address is in brackets where a host has a port behind it."""
    answers = Answers(UNIMPLEMENTED)
    with server(answers, "::1") as port:
        assert why_not_serving("::1", port) == ""
    assert answers.asked[0][0][b":authority"] == f"[::1]:{port}".encode()
    assert why_not_serving("::1", port) == f"the Connect server at [::1]:{port} is not listening yet"


@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (Answers([(":status", "404")]), "ended its answer without a grpc-status"),
        (sends(PREFACE, frame(3, 0, 1, bytes(4))), "ended its answer without a grpc-status"),
        (sends(PREFACE, frame(7, 0, 0, bytes(8))), "ended its answer without a grpc-status"),
        (sends(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "does not speak HTTP/2, which gRPC needs"),
        (closes, "closed the connection without an answer"),
        (sends(b"220 mail.example.com ESMTP\r\n"), "does not speak HTTP/2, which gRPC needs"),
        (sends(b"2", b"2" * 4000, pause=0.1), "does not speak HTTP/2, which gRPC needs"),
        (sends(bytes(9)), "does not speak HTTP/2, which gRPC needs"),
        (sends(PREFACE, bytes(9)), "does not speak gRPC: "),
        (sends(PREFACE, frame(1, 4, 1, b"\xff" * 40)), "does not speak gRPC: "),
    ],
    ids=["404", "reset", "goaway", "HTTP/1", "closes", "mail", "garbage", "zeros", "data", "bad headers"],
)
def test_what_is_no_grpc_server(serve: Callable[[socket.socket], None], why: str) -> None:
    """One line says what it did, and nothing that it sent is in it."""
    with server(serve) as port:
        said = why_not_serving("127.0.0.1", port)
    assert said.startswith(f"the Connect server at 127.0.0.1:{port} {why}")
    assert "\n" not in said


def test_a_connection_that_breaks() -> None:
    """Before or after the request was sent."""
    with server(resets) as port:
        said = why_not_serving("127.0.0.1", port)
    assert said.startswith(f"the Connect server at 127.0.0.1:{port} cannot be reached: ")


@pytest.mark.parametrize(
    "serve",
    [
        sends(),
        sends(PREFACE),
        sends(PREFACE, frame(1, 4, 1, b"\x88")),
        sends(PREFACE, frame(250, 0, 0, b""), *([b"\xff"] * 40), pause=0.03),
    ],
    ids=["silent", "settings alone", "no trailers", "slow"],
)
def test_a_server_that_gives_no_answer_in_time(serve: Callable[[socket.socket], None]) -> None:
    """The time is that of the whole exchange, however slowly its bytes come."""
    with server(serve) as port:
        began = time.monotonic()
        said = why_not_serving("127.0.0.1", port, 0.5)
        assert time.monotonic() - began < 1.5
    assert said == f"the Connect server at 127.0.0.1:{port} did not answer within 0.5 s"


def test_a_queue_that_is_full() -> None:
    """A server that does not accept is waited for no longer than one that does not answer."""
    with ExitStack() as stack:
        listening = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        place = listening.getsockname()
        for _ in range(3):
            one = stack.enter_context(closing(socket.socket()))
            one.setblocking(False)
            one.connect_ex(place)
        began = time.monotonic()
        assert "did not answer within 0.5 s" in why_not_serving("127.0.0.1", place[1], 0.5)
        assert time.monotonic() - began < 1.5


BLOCK = b"\x40\x01a" + b"\x7f\x81\x1e" + b"b" * 3968
"""A header of 4 KiB that goes into the table for headers; then `\xbe` is all of it again."""


@pytest.mark.parametrize(
    "part",
    [
        frame(6, 0, 0, bytes(8)),
        frame(4, 0, 0, b""),
        frame(1, 0, 1, b"") + frame(9, 0, 1, b"") * 4000,
        frame(1, 4, 1, b"\x08\x03103"),
        frame(1, 4, 1, b"\x08\x03103" + BLOCK) + frame(1, 4, 1, b"\x08\x03103" + b"\xbe" * 15) * 40,
        frame(1, 4, 1, b"\x88" + BLOCK + b"\xbe" * 8000),
        frame(0, 0, 1, bytes(1000)),
        frame(250, 0, 0, bytes(16000)),
    ],
    ids=["pings", "settings", "continuations", "hints", "large hints", "bomb", "data", "unknown frames"],
)
def test_a_server_that_never_stops(part: bytes) -> None:
    """It is given up after a bounded number of bytes, and so of work, not only after the time."""
    with server(sends_for_ever(part)) as port:
        began = time.thread_time()
        said = why_not_serving("127.0.0.1", port, 30.0)
        assert time.thread_time() - began < 2
    assert said.startswith(f"the Connect server at 127.0.0.1:{port} ")


class Recorded:
    """A connection whose other side says this, however much it is sent."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def settimeout(self, seconds: float) -> None:
        """Take any time."""

    def sendall(self, data: bytes) -> None:
        """Take it."""

    def recv(self, size: int) -> bytes:
        """Give the next bytes, and then none."""
        part, self.data = self.data[:size], self.data[size:]
        return part

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *_: object) -> None:
        pass


FRAMES = st.builds(
    frame, st.integers(0, 12), st.integers(0, 255), st.sampled_from([0, 1, 1, 2, 3]), st.binary(max_size=60)
)


@given(st.one_of(st.binary(max_size=300), st.lists(FRAMES, max_size=12).map(b"".join)), st.booleans())
def test_no_bytes_raise_anything(data: bytes, preface: bool) -> None:
    """Noise, and frames of every kind with noise in them: there is always an answer, in one line."""
    recorded = Recorded(PREFACE * preface + data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connect_server.socket, "create_connection", lambda *_: recorded)
        said = why_not_serving("127.0.0.1", 15002)
    assert "\n" not in said


def test_other_allocators_do_not_import_h2() -> None:
    """Only the allocator of a Connect server pays for it."""
    program = "import sys, sparkgen.runtime.allocator.cluster; print('h2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
