"""Bytes to requests, strictly, and answers to bytes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.httpserver.parse import BadRequest, parse_head, response_bytes
from sparkgen.runtime.httpserver.values import HttpRequest, HttpResponse, text


def test_a_request() -> None:
    """Names in lower case, values without the spaces around them."""
    found = parse_head(b"PUT /v1/state?a=b HTTP/1.1\r\nHost:x\r\nContent-LENGTH:  12 ")
    assert found == HttpRequest(
        "PUT", "/v1/state", "a=b", {"host": "x", "content-length": "12"}, 12, keep_alive=True
    )


@pytest.mark.parametrize(
    ("version", "header", "keep"),
    [
        ("1.1", "", True),
        ("1.1", "\r\nConnection: Close", False),
        ("1.0", "", False),
        ("1.0", "\r\nConnection: keep-alive", True),
    ],
)
def test_whether_it_goes_on(version: str, header: str, keep: bool) -> None:
    """As each version of HTTP has it."""
    assert parse_head(f"GET / HTTP/{version}{header}".encode()).keep_alive is keep


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET",
        b"GET / HTTP/2.0",
        b"get / HTTP/1.1",
        b"GET http://x/ HTTP/1.1",
        b"GET /a b HTTP/1.1",
        b"GET /\xff HTTP/1.1",
        b"GET / HTTP/1.1\r\nno colon",
        b"GET / HTTP/1.1\r\nName : value",
        b"GET / HTTP/1.1\r\n folded: value",
        b"GET / HTTP/1.1\r\nA: b\nC: d",
        b"GET / HTTP/1.1\r\nA: b\0",
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1",
        b"GET / HTTP/1.1\r\nAuthorization: a\r\nauthorization: b",
        b"GET / HTTP/1.1\r\nHost: a\r\nhost: b",
        b"GET / HTTP/1.1\r\nContent-Length: -1",
        b"GET / HTTP/1.1\r\nContent-Length: 0x10",
        b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000,
        b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        b"GET / HTTP/1.1" + b"\r\na: b" * 101,
    ],
)
def test_what_is_no_request(head: bytes) -> None:
    """What two programs could read in two ways is read in none."""
    with pytest.raises(BadRequest):
        parse_head(head)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_none(head: bytes) -> None:
    """Nothing else is raised."""
    with suppress(BadRequest):
        assert parse_head(b"GET / HTTP/1.1\r\n" + head).path == "/"


def test_answers() -> None:
    """204 has no body, and says nothing of one."""
    assert response_bytes(text(200, "ok\n"), keep_alive=False) == (
        b"HTTP/1.1 200 OK\r\nServer: sparkgen\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Content-Length: 3\r\nConnection: close\r\n\r\nok\n"
    )
    assert response_bytes(HttpResponse(204), keep_alive=True) == (
        b"HTTP/1.1 204 No Content\r\nServer: sparkgen\r\nConnection: keep-alive\r\n\r\n"
    )
