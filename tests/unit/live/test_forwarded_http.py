"""An answer over a forwarded port is complete and in time, or none."""

from __future__ import annotations

from itertools import chain, repeat

import pytest

from sparkgen.live.forwarded_http import Request, Unanswered, answer_of
from tests.unit.endless import ENDLESS, OK
from tests.unit.live.played import Played


def read(played: Played, seconds: float = 60.0) -> tuple[int, bytes]:
    """Status and body."""
    with answer_of(played, 4040, Request("GET", "/", seconds)) as answer:
        return answer.status, b"".join(answer.pieces())


@pytest.mark.parametrize(
    "pieces",
    [
        (OK, b"Content-Length: 3\r\n\r\na", b"bc"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nb", b"c\r\n0\r\n\r\n"),
        (OK + b"\r\n", b"ab", b"c"),
    ],
    ids=["length", "chunks", "end"],
)
def test_a_complete_answer(pieces: tuple[bytes, ...]) -> None:
    """However its end is marked; then the connection is closed."""
    played = Played(pieces)
    assert read(played) == (200, b"abc")
    assert played.closed


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"Content-Length: 3\r\n\r\na", "the answer broke off 2 bytes before its end"),
        (b"Transfer-Encoding: chunked\r\n\r\n5\r\na", "IncompleteRead"),
        (b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "IncompleteRead"),
    ],
)
def test_a_part_of_an_answer_is_none(body: bytes, message: str) -> None:
    """Http.client takes some of them for the whole."""
    played = Played([OK + body])
    with pytest.raises(Unanswered, match=message):
        read(played)
    assert played.closed


def test_the_other_ends_reason_is_told() -> None:
    """On one line."""
    with pytest.raises(Unanswered, match=r"^connection refused by the pod$"):
        read(Played([], "connection refused\nby the pod"))


@pytest.mark.parametrize("kind", ENDLESS)
def test_an_answer_without_an_end_is_none(kind: str) -> None:
    """No byte is late: only the whole answer is."""
    first, again = ENDLESS[kind]
    played = Played(chain([first], repeat(again)))
    with pytest.raises(Unanswered):
        read(played, 0.2)
    played.thread.join(60)
    assert not played.thread.is_alive()
