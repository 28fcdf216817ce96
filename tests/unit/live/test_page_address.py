"""The address of a forwarded page: its own in each call, and the only one that its port answers."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest

from sparkgen.live.page_address import HEAD_BYTES, REFUSAL, REFUSED, authority, page_host
from sparkgen.live.tunnel import Near, Tunnel
from tests.unit.live.played import Played

HOST = "pi-analytics-0a1b2c3d.localhost"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "namespace", "expected"),
    [
        ("pi", "analytics", "pi-analytics-0a1b2c3d.localhost"),
        ("p" * 45, "n" * 63, f"{'p' * 45}-{'n' * 8}-0a1b2c3d.localhost"),
        ("p" * 54, "n", f"{'p' * 54}-0a1b2c3d.localhost"),
        ("p" * 53, "n", f"{'p' * 53}-0a1b2c3d.localhost"),
        ("-My_App.v2", "analytics", "my-app-v2-analytics-0a1b2c3d.localhost"),
    ],
)
def test_the_host_is_one_label_with_all_of_the_random_part(name: str, namespace: str, expected: str) -> None:
    """A label has at most 63 characters; the random part is never cut."""
    assert page_host(name, namespace, "0a1b2c3d") == expected
    assert len(expected.partition(".")[0]) <= 63


@pytest.fixture
def said() -> list[str]:
    """What a person was told."""
    return []


@pytest.fixture
def opened() -> list[Played]:
    """The connections to the pod."""
    return []


@pytest.fixture
def tunnel(said: list[str], opened: list[Played]) -> Iterator[Tunnel]:
    """A tunnel to a page that answers each request."""

    def open_() -> Played:
        opened.append(Played([ANSWER]))
        return opened[-1]

    made = Tunnel(0, 4040, open_, said.append, near=Near(host=HOST))
    made.start()
    yield made
    made.stop()


def answer_to(tunnel: Tunnel, *pieces: bytes) -> bytes:
    """What comes back until the end, for a request in pieces. PORT in it stands for the tunnel's port."""
    with socket.create_connection(("127.0.0.1", tunnel.port), 5) as near, contextlib.suppress(OSError):
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            near.sendall(piece.replace(b"PORT", str(tunnel.port).encode()))
        return b"".join(iter(lambda: near.recv(1000), b""))
    return b""


@pytest.mark.parametrize(
    "pieces",
    [
        (b"GET / HTTP/1.1\r\nHost: %s:PORT\r\n\r\n" % HOST.encode(),),
        (b"GET / HTTP/1.1\r\nAccept: */*\r\nhost:", b"%s:PORT\r\n" % HOST.upper().encode(), b"\r\n"),
    ],
)
def test_a_request_for_the_printed_address_reaches_the_pod(
    tunnel: Tunnel, said: list[str], pieces: tuple[bytes, ...]
) -> None:
    """In any number of pieces, and in any case: hosts have none."""
    assert answer_to(tunnel, *pieces) == ANSWER
    assert said == []


@pytest.mark.parametrize(
    "head",
    [
        b"Host: 127.0.0.1:PORT",
        b"Host: localhost:PORT",
        b"Host: pi-analytics-ffffffff.localhost:PORT",
        b"Host: evil.example.com:PORT",
        b"Host: %s" % HOST.encode(),
        b"Host: %s:1" % HOST.encode(),
        b"Host: %s.:PORT" % HOST.encode(),
        b"Host: %s:PORT\r\nHost: localhost:PORT" % HOST.encode(),
        b"X-Host: %s:PORT" % HOST.encode(),
        b"Accept: */*",
        b"Accept: " + b"a" * HEAD_BYTES + b"\r\nHost: %s:PORT" % HOST.encode(),
    ],
)
def test_a_request_for_another_address_does_not(
    tunnel: Tunnel, said: list[str], opened: list[Played], head: bytes
) -> None:
    """A page of an application that had the port before, or of a name that leads here by DNS rebinding."""
    answer = answer_to(tunnel, b"POST /jobs/job/kill/?id=0 HTTP/1.1\r\n" + head + b"\r\n\r\n")
    assert answer in (REFUSAL, b"")  # nothing if the rest of a long request was not read
    assert (said, opened) == ([REFUSED], [])
    assert HOST.encode() not in REFUSAL


@pytest.mark.parametrize("text", [b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1\r\nHost: "])
def test_what_is_no_request_ends(tunnel: Tunnel, opened: list[Played], text: bytes) -> None:
    """TLS, which would wait for an answer; and a request that breaks off."""
    with socket.create_connection(("127.0.0.1", tunnel.port), 5) as near:
        near.sendall(text)
        if text[:1] == b"G":
            near.shutdown(socket.SHUT_WR)
        assert b"".join(iter(lambda: near.recv(1000), b"")) == REFUSAL
    assert opened == []


def test_port_80_is_not_in_the_address() -> None:
    """Browsers leave it out of the header, too."""
    assert (authority(HOST, 80), authority(HOST, 4040)) == (HOST, f"{HOST}:4040")
