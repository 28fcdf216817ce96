"""Each fault that is put into the production code on purpose breaks one of the invariants."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.run import run
from simulator.schedule import Schedule
from simulator.soak import PLANS
from tests.unit.simulator.mutations import FOUND, Mutation

SEEDS = range(300)
"""Schedules within which every mutation has to be caught."""
KNOWN = Path(__file__).with_name("mutation_seeds.json")
"""The first schedule that caught each mutation: it is played first. `pytest --regenerate` writes it."""


def seeds(mutation: Mutation) -> list[int]:
    """All schedules, the one that caught it the last time first: a change may have given it another."""
    known = json.loads(KNOWN.read_text()).get(mutation.name, 0) if KNOWN.is_file() else 0
    return sorted(SEEDS, key=lambda seed: (seed != known, seed))


def planned(mutation: Mutation, seed: int) -> Schedule:
    """The schedule of a seed, with more of the faults that the mutation needs."""
    return PLANS[mutation.plan](seed, mutation.focus)


def caught_by(mutation: Mutation) -> int | None:
    """The first schedule in which an invariant that is named for the mutation is broken."""
    for seed in seeds(mutation):
        broken = run(planned(mutation, seed)).broken
        if broken is not None and broken.invariant in mutation.invariants:
            return seed
    return None


@pytest.mark.parametrize("mutation", FOUND, ids=lambda mutation: mutation.name)
def test_a_law_catches_it(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the invariant that is named for it; the same schedule holds without the mutation."""
    mutation.put(monkeypatch)
    seed = caught_by(mutation)
    assert seed is not None, f"no schedule of {len(SEEDS)} breaks {sorted(mutation.invariants)}"
    monkeypatch.undo()
    assert run(planned(mutation, seed)).broken is None


def test_the_known_schedules(
    golden: Callable[[Path, str], None], regenerate: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every mutation has its line: a new one is searched for once, and not in every run."""
    if not regenerate:
        assert sorted(json.loads(KNOWN.read_text())) == sorted(one.name for one in FOUND)
        return
    found = {}
    for mutation in FOUND:
        mutation.put(monkeypatch)
        found[mutation.name] = caught_by(mutation)
        monkeypatch.undo()
    golden(KNOWN, json.dumps(dict(sorted(found.items())), indent=1) + "\n")
