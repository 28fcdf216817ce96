"""Ten thousand schedules, and every law in each; in parts, so that they are played side by side."""

from __future__ import annotations

import pytest

from sparkgen.simulator.soak import played

SCHEDULES = 10_000
PARTS = 20
SEEDS = [range(first, first + SCHEDULES // PARTS) for first in range(0, SCHEDULES, SCHEDULES // PARTS)]


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds(seeds: range) -> None:
    """A seed that is named here is played again by `python -m sparkgen.simulator replay SEED --shrink`."""
    assert played(seeds) == []
