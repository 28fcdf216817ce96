"""What a session's allocator answers, or something else in its place: taken in, or refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.shell import allocator_client
from sparkgen.shell.allocator_client import AllocatorClient, NoAnswer
from sparkgen.shell.driver_address import DriverAddress
from tests.unit.live.played import Played

GOOD = {"version": 1, "properties": {"spark.a": "b"}, "podAddress": "10.88.0.7", "allocatorPort": 7091}


def client(data: bytes) -> AllocatorClient:
    """A client of an allocator that answers so."""
    return AllocatorClient(lambda: Played([data]), "t")


def told(answer: object) -> Any:
    """What is made of an answer."""
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    return client(head.encode() + body).tell_driver(DriverAddress("10.1.2.3", 7078, 7079), "0" * 32)


def test_an_answer_is_taken_in() -> None:
    """As values; fields that nobody knows are left alone."""
    found = told({**GOOD, "more": 1})
    assert (found.properties, found.pod_address, found.allocator_port) == (
        {"spark.a": "b"},
        "10.88.0.7",
        7091,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"properties": None},
        {"properties": {"spark.a": "\ud800"}},
        {"podAddress": "pod.example"},
        {"podAddress": "\x1b[2J"},
        {"podAddress": None},
        {"allocatorPort": 65536},
        {"allocatorPort": "x"},
        {"allocatorPort": float("inf")},
    ],
)
def test_what_no_allocator_says_is_refused_in_words(change: dict[str, Any]) -> None:
    """And nothing of it reaches a terminal as it is."""
    with pytest.raises(
        SparkgenError, match="the session's allocator sent an answer that this version does not understand"
    ) as caught:
        told({**GOOD, **change})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("answer", [[], None, "x", {}])
def test_another_form_is_refused_in_words(answer: object) -> None:
    """Something else answers at the port."""
    with pytest.raises(
        SparkgenError, match="the session's allocator sent an answer that this version does not understand"
    ):
        told(answer)


def test_a_part_of_the_jar_is_no_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be written for Spark, which cannot read it."""
    monkeypatch.setattr(allocator_client, "TRIES_SECONDS", 0.0)
    cut = client(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\nPK and more")
    with pytest.raises(NoAnswer, match="broke off 299989 bytes before its end"):
        cut.jar("2.13")


def test_a_jar_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is bounded."""
    monkeypatch.setattr(allocator_client, "MAX_ANSWER", 1 << 20)
    with pytest.raises(SparkgenError, match="answered with more than 1 MiB"):
        client(b"HTTP/1.1 200 OK\r\n\r\n" + b"P" * (1 << 21)).jar("2.13")


@pytest.mark.parametrize(
    ("status", "message"),
    [(200, "did not answer with JSON"), (400, r"refused the request \(HTTP 400\)")],
)
def test_an_answer_of_a_hundred_thousand_levels_is_told(status: int, message: str) -> None:
    """As any other that is no JSON."""
    deep = client(f"HTTP/1.1 {status} X\r\n\r\n".encode() + b"[" * 100_000)
    with pytest.raises(SparkgenError, match=message):
        deep.say_alive()


def test_a_connection_that_cannot_be_opened_is_no_answer() -> None:
    """It is tried again: the allocator may be starting."""

    def open_() -> Played:
        raise ClusterError("cannot forward port 7090", 500)

    with pytest.raises(NoAnswer, match=r"does not answer \(cannot forward port 7090\)"):
        AllocatorClient(open_, "t").say_alive()
