"""The laws are no ornament: each fault that is put into the production code on purpose breaks one of them."""

from __future__ import annotations

import pytest

from sparkgen.simulator.plan import plan_of
from sparkgen.simulator.world import play
from tests.unit.simulator.mutations import FOUND, Mutation

SEEDS = range(300)
"""Schedules within which every mutation has to be caught."""


@pytest.mark.parametrize("mutation", FOUND, ids=lambda mutation: mutation.name)
def test_a_law_catches_it(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the law that is named for it; the same schedule holds without the mutation."""
    mutation.put(monkeypatch)
    for seed in SEEDS:
        broken = play(plan_of(seed, mutation.focus)).broken
        if broken is not None and broken.law in mutation.laws:
            monkeypatch.undo()
            assert play(plan_of(seed, mutation.focus)).broken is None
            return
    pytest.fail(f"no schedule of {len(SEEDS)} breaks {sorted(mutation.laws)}")
