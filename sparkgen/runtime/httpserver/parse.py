"""From bytes to the head of a request, strictly (RFC 9112), and from an answer to bytes. Pure."""

from __future__ import annotations

import re
from http import HTTPStatus

from sparkgen.runtime.httpserver.values import HttpRequest, HttpResponse

MAX_HEADERS = 100
END = b"\r\n\r\n"
_LINE = re.compile(r"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.([01])")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]++):(.*)", re.DOTALL)
_ONCE = ("authorization", "content-length", "host", "transfer-encoding")
"""Headers that may not occur twice: two programs could read different ones."""
_LENGTH = re.compile(r"[0-9]{1,15}")


class BadRequest(Exception):
    """Bytes that are not a valid request; the text says what is wrong."""


def parse_head(data: bytes) -> HttpRequest:
    """A request's head, without the empty line that ends it. Raises BadRequest."""
    first, *lines = data.decode("latin-1").split("\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        raise BadRequest("the first line is not an HTTP/1 request")
    if len(lines) > MAX_HEADERS:
        raise BadRequest(f"there are more than {MAX_HEADERS} headers")
    headers = _headers(lines)
    path, _, query = line[2].partition("?")
    connection = headers.get("connection", "").lower()
    keep_alive = connection != "close" and (line[3] == "1" or connection == "keep-alive")
    return HttpRequest(line[1], path, query, headers, _content_length(headers), keep_alive)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in lines:
        found = _HEADER.fullmatch(text)
        if found is None or "\n" in text or "\r" in text or "\0" in text:
            raise BadRequest("a header is malformed")
        name = found[1].lower()
        if name in headers and name in _ONCE:
            raise BadRequest(f"the header {name} occurs twice")
        headers[name] = found[2].strip(" \t")
    return headers


def _content_length(headers: dict[str, str]) -> int | None:
    text = headers.get("content-length")
    if text is None:
        return None
    if not _LENGTH.fullmatch(text) or "transfer-encoding" in headers:
        raise BadRequest("the length of the body is ambiguous")
    return int(text)


def response_bytes(answer: HttpResponse, *, keep_alive: bool) -> bytes:
    """An answer as bytes for the client."""
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", "Server: sparkgen"]
    if answer.status != HTTPStatus.NO_CONTENT:
        lines += [f"Content-Type: {answer.kind}", f"Content-Length: {len(answer.body)}"]
    lines.append(f"Connection: {'keep-alive' if keep_alive else 'close'}")
    return "\r\n".join(lines).encode("latin-1") + END + answer.body
