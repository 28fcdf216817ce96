"""The laws of what profiles share (sparkgen/runtime/allocator/decide/ceiling.py)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.allocator.decide.ceiling import shared

ASKED = st.dictionaries(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), max_size=30)
MOST = st.integers(0, 2000)


@given(ASKED, MOST)
def test_never_more_than_there_may_be_and_never_less_than_can_be(asked: dict[int, int], most: int) -> None:
    """All that may be given is given, and nobody gets more than was asked for."""
    given_ = shared(asked, most)
    assert given_.keys() == asked.keys()
    assert sum(given_.values()) == min(most, sum(asked.values()))
    assert all(0 <= given_[profile] <= asked[profile] for profile in asked)


@given(ASKED, MOST)
def test_who_gets_less_than_it_asks_for_gets_as_much_as_anybody(asked: dict[int, int], most: int) -> None:
    """But for one that cannot be divided."""
    given_ = shared(asked, most)
    greatest = max(given_.values(), default=0)
    assert all(given_[profile] >= greatest - 1 for profile in asked if given_[profile] < asked[profile])
