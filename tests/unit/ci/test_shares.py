"""Which end-to-end tests a commit plays."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import share

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
import shares  # noqa: E402

SECONDS = st.dictionaries(st.text(min_size=1, max_size=8), st.floats(0.1, 700), max_size=60)


@given(SECONDS)
def test_every_slow_test_is_in_one_share(seconds: dict[str, float]) -> None:
    """As many commits in a row as there are shares play each of them once."""
    found = shares.pack(seconds)
    assert found.keys() == seconds.keys()
    assert set(found.values()) <= set(range(shares.SHARES))


@given(SECONDS)
def test_no_share_is_longer_than_its_part_and_one_test(seconds: dict[str, float]) -> None:
    """Packing the longest first keeps every share within the mean and the longest test (Graham, 1969)."""
    found = shares.pack(seconds)
    totals = [sum(seconds[name] for name in found if found[name] == share) for share in range(shares.SHARES)]
    mean, longest = sum(seconds.values()) / shares.SHARES, max(seconds.values(), default=0)
    assert max(totals) <= mean + longest + 1e-6


def test_what_is_quick_is_always_played_and_what_is_full_never_by_itself() -> None:
    """An unmeasured test is played at every commit, unless its mark says that it takes minutes."""
    found = shares.slow({"a": 5, "b": 50, "c": 3}, frozenset({"c", "d"}), frozenset("abcde"))
    assert found == {"b": 50, "c": 3, "d": shares.UNMEASURED}


def test_a_record_keeps_what_was_not_played(tmp_path: Path) -> None:
    """A run of some tests changes their times only."""
    table = tmp_path / "durations.json"
    shares.record({"a": 1.04, "b": 2}, table)
    shares.record({"b": 3.33}, table)
    assert shares.measured(table) == {"a": 1.0, "b": 3.3}


def test_the_table_names_tests_that_are_there() -> None:
    """A test that was renamed is measured again; its old line would take room in a share."""
    files = {name.partition("::")[0] for name in shares.measured()}
    assert [name for name in sorted(files) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("count", [1, 10, 37])
def test_the_shares_do_not_depend_on_the_order_of_the_table(count: int) -> None:
    """Two machines choose the same tests."""
    names = [f"t{number}" for number in range(count)]
    seconds = {name: 30.0 + index % 3 for index, name in enumerate(names)}
    assert shares.pack(seconds) == shares.pack(dict(reversed(seconds.items())))


def test_what_one_of_the_shares_adds_to_ci_is_never_added_twice() -> None:
    """One commit builds promtool, another plays the tests of addresses with IPv6, and a third with both."""
    names = ("promtool", "ipv6", "dual")
    assert len({share.share_of(name) for name in names}) == len(names)
