"""Which namespaces are asked about, when there are more than can be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.janitor.namespaces import NamespaceQuery, next_namespaces
from sparkgen.runtime.janitor.values import DriversAnswer

NAMES = st.sets(st.text("abcdef", min_size=1, max_size=3), max_size=40)


@given(names=NAMES, answers=st.data(), limit=st.integers(1, 20))
def test_each_namespace_has_its_turn(names: set[str], answers: st.DataObject, limit: int) -> None:
    """Never more than the limit, never one twice, and all of them within bounded rounds."""
    asked: dict[str, NamespaceQuery] = {}
    seen: set[str] = set()
    for now in range(2 * len(names) // limit + 2 if limit > 1 else 2 * len(names) + 2):
        chosen = next_namespaces(names, asked, limit)
        assert len(chosen) == len(set(chosen)) == min(limit, len(names))
        seen |= set(chosen)
        for name in chosen:
            asked[name] = NamespaceQuery(float(now), answers.draw(st.sampled_from(list(DriversAnswer))))
    if limit > 1:
        assert seen == names


def test_known_ones_do_not_wait_behind_names_that_are_made_up() -> None:
    """Half of the places are theirs."""
    asked = {f"real-{number}": NamespaceQuery(float(number), DriversAnswer.WHOLE) for number in range(6)}
    names = {*asked, *(f"made-up-{number}" for number in range(100))}
    chosen = next_namespaces(names, asked, 8)
    assert chosen[:4] == ["real-0", "real-1", "real-2", "real-3"]
    assert all(name.startswith("made-up-") for name in chosen[4:])
