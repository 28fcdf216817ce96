"""Lists in pages: each page once, smaller ones where one is too large, and an end in any case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.kubernetes.paging import MAX_TOKEN, pages


class Server:
    """A list of so many numbers, of which at most `readable` may be in one answer."""

    def __init__(self, total: int, readable: int = 10**6) -> None:
        self.total, self.readable = total, readable
        self.queries: list[Mapping[str, str]] = []

    def __call__(self, query: Mapping[str, str]) -> Reply:
        """One page of it."""
        self.queries.append(query)
        size, start = int(query["limit"]), int(query.get("continue", 0))
        if size > self.readable:
            raise AnswerTooLarge("too large", sent=True)
        end = min(start + size, self.total)
        more = {"continue": str(end)} if end < self.total else {}
        return Reply(200, {"items": [*range(start, end)], "metadata": more})


def numbers(server: Server, most: int = 100) -> list[int]:
    """What the pages have."""
    return [item for reply in pages(server, (50, 20, 5), most, "a=b") for item in reply.body["items"]]


@pytest.mark.parametrize(("total", "requests"), [(0, 1), (50, 1), (51, 2), (149, 3)])
def test_each_page_is_asked_for_once(total: int, requests: int) -> None:
    """With the token of the one before, and with the selector."""
    server = Server(total)
    assert numbers(server) == [*range(total)]
    assert len(server.queries) == requests
    assert {(one["labelSelector"], one["limit"]) for one in server.queries} == {("a=b", "50")}
    assert "continue" not in server.queries[0]


def test_smaller_pages_go_on_where_the_list_was() -> None:
    """If the smallest is too large, nothing is known."""
    server = Server(40, readable=20)
    assert numbers(server) == [*range(40)]
    assert [one["limit"] for one in server.queries] == ["50", "20", "20"]
    with pytest.raises(AnswerTooLarge, match="too large"):
        numbers(Server(42, readable=4))


def test_pages_grow_again_after_a_large_object() -> None:
    """It may be somebody else's, and a list of small pages could have more than are read."""

    class OneLarge(Server):
        """A list whose tenth object fits only into the smallest page."""

        def __call__(self, query: Mapping[str, str]) -> Reply:
            start = int(query.get("continue", 0))
            self.readable = 5 if start <= 10 < start + int(query["limit"]) else 10**6
            return super().__call__(query)

    server = OneLarge(200)
    assert numbers(server) == [*range(200)]
    sizes = [one["limit"] for one in server.queries]
    assert sizes == [*("50", "20"), *["5"] * 4, *["20"] * 4, *["50"] * 2]


def test_pages_that_are_all_large_cost_few_tries() -> None:
    """Each larger one is read in vain: after twice as many small ones as before."""
    server = Server(20 * 400, readable=20)
    assert numbers(server, 450) == [*range(20 * 400)]
    assert [one["limit"] for one in server.queries].count("50") == 28


def test_a_list_ends_after_so_many_requests() -> None:
    """Those for pages that are too large count as well."""
    assert numbers(Server(100), most=2) == [*range(100)]
    with pytest.raises(CallFailed, match="does not end"):
        numbers(Server(101), most=2)
    with pytest.raises(CallFailed, match="does not end"):
        numbers(Server(40, readable=20), most=2)


def test_a_page_that_leads_to_itself() -> None:
    """Is read twice, and not once more."""
    asked: list[Mapping[str, str]] = []

    def same(query: Mapping[str, str]) -> Reply:
        asked.append(query)
        return Reply(200, {"metadata": {"continue": "more"}})

    with pytest.raises(CallFailed, match="does not end"):
        list(pages(same, (5,), 100))
    assert len(asked) == 2


def test_a_refusal_is_the_last_answer() -> None:
    """Its words are for the caller."""
    found = list(pages(lambda _: Reply(403, {"metadata": {"continue": "x"}, "message": "no"}), (5,), 100))
    assert [(reply.status, reply.message) for reply in found] == [(403, "no")]


@pytest.mark.parametrize(
    "metadata",
    [{"continue": 7}, {"continue": "ä"}, {"continue": "x" * (MAX_TOKEN + 1)}, {"continue": []}, "x"],
)
def test_a_token_that_is_none(metadata: Any) -> None:
    """Whether there is more is not known then."""
    with pytest.raises(CallFailed, match="is not a list"):
        list(pages(lambda _: Reply(200, {"metadata": metadata}), (5,), 100))
