"""A map that is a value (sparkgen.runtime.allocator.values.mappings)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.allocator.values.mappings import PersistentMap

CHANGES = st.lists(st.tuples(st.integers(0, 20), st.none() | st.integers()), max_size=60)


@given(st.dictionaries(st.integers(0, 20), st.integers()), CHANGES)
def test_changes_are_those_of_a_dict(first: dict[int, int], changes: list[tuple[int, int | None]]) -> None:
    """After any changes it holds what a dict holds, and every earlier one holds what it held."""
    now, expected = PersistentMap(first), dict(first)
    earlier = []
    for id_, value in changes:
        earlier.append((now, dict(expected)))
        if value is None:
            now = now.without(id_)
            expected.pop(id_, None)
        else:
            now = now.having(id_, value)
            expected[id_] = value
        assert (id_ in now, now.get(id_)) == (id_ in expected, expected.get(id_))
    for layered, held in [*earlier, (now, expected)]:
        assert layered == held
        assert (layered.whole(), len(layered), set(layered)) == (held, len(held), set(held))


def test_the_small_map_stays_small() -> None:
    """However many changes there are, what is copied at each of them is about the root of all."""
    now = PersistentMap(dict.fromkeys(range(10_000), 0))
    for id_ in range(20_000):
        now = now.having(id_ % 10_000, id_)
        assert len(now._above) <= 100
    assert now.whole() == {id_: id_ + 10_000 for id_ in range(10_000)}
