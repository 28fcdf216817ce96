"""Fairness between addresses: who has to go when there is no room."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.httpserver.fairness import ConnectionLimiter, FairQueue, address_group


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("2001:db8:1:3::9", "2001:db8:1:3::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::"),
    ],
)
def test_what_counts_as_one_client(address: str, group: str) -> None:
    """A network of 64 bits is one machine's; version 4 within 6 is version 4."""
    assert address_group(address) == group


def test_a_newcomer_takes_the_place_of_the_oldest_of_who_has_most() -> None:
    """Not that of who has few, and not that of who came last."""
    limiter: ConnectionLimiter[str] = ConnectionLimiter(4, 4)
    for name, group in (("a1", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b")):
        assert limiter.add(name, group, 0.0) is None
    assert [limiter.add(name, name, 1.0) for name in ("c", "d")] == ["b1", "b2"]
    assert limiter.add("e", "e", 2.0) == "a1"


def test_one_address_has_a_share_beyond_a_burst() -> None:
    """More than its share for as long as a burst lasts; then its oldest goes for its newest."""
    limiter: ConnectionLimiter[int] = ConnectionLimiter(100, 2, grace=1.0)
    assert [limiter.add(number, "a", 0.5) for number in range(4)] == [None] * 4
    assert limiter.add(4, "a", 1.5) == 0
    assert limiter.add(5, "b", 1.5) is None


@given(choose=st.randoms(use_true_random=False), limit=st.integers(1, 12), share=st.integers(1, 6))
def test_no_newcomer_goes_and_no_one_who_has_less_than_another(
    choose: random.Random, limit: int, share: int
) -> None:
    """However many addresses come how often: there are never more than the limit, and each is known."""
    limiter: ConnectionLimiter[int] = ConnectionLimiter(limit, share, grace=choose.choice([0.0, 2.0]))
    there: dict[int, str] = {}
    for number in range(60):
        if there and choose.random() < 0.2:
            gone = choose.choice(sorted(there))
            limiter.remove(gone, there.pop(gone))
            continue
        group = f"{min(choose.randrange(8), choose.randrange(8))}"
        there[number] = group
        sizes = Counter(there.values())
        victim = limiter.add(number, group, float(number))
        if victim is not None:
            assert victim != number
            assert sizes[there[victim]] == max(sizes.values()) or sizes[group] > share
            assert there[victim] == group or len(there) > limit
            del there[victim]
        assert len(limiter) == len(there) <= limit


def test_those_who_wait_take_turns() -> None:
    """One that asks a hundred times waits behind its own questions, not others behind it."""
    queue: FairQueue[str] = FairQueue(5, 3)
    assert [queue.push("a", f"a{number}") for number in range(4)] == [None, None, None, "a3"]
    assert queue.push("b", "b0") is None
    assert queue.push("c", "c0") is None
    assert queue.push("d", "d0") == "a2"
    assert [queue.pop() for _ in range(6)] == ["a0", "b0", "c0", "d0", "a1", None]


def test_a_queue_without_room() -> None:
    """What comes goes back."""
    queue: FairQueue[str] = FairQueue(0, 1)
    assert queue.push("a", "a0") == "a0"
    assert queue.pop() is None
