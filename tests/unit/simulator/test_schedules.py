"""Ten thousand schedules in parts, every invariant in each; of most parts only the first ones are played."""

from __future__ import annotations

import pytest

from simulator.soak import played
from tests import scale

SCHEDULES = 10_000
PARTS = 20
SESSIONS = 2_000
"""Schedules where drivers come and go."""
SMALL = 12
"""Schedules of a part that is not played whole."""
RARE = (
    4317,
    6624,
    8744,
    8842,
    10999,
    12283,
    19452,
    25792,
    26943,
    28862,
    32757,
    40399,
    43632,
    45807,
    46505,
    46664,
    48663,
    53710,
)
"""Schedules that broke an invariant once: of the allocator, or of a simulator that was wrong itself."""
SEEDS = [range(first, first + SCHEDULES // PARTS) for first in range(0, SCHEDULES, SCHEDULES // PARTS)]


def test_the_rare_ones_hold() -> None:
    """Each is of a long soak. A change of the plans' making gives them other schedules: then they go."""
    assert played(RARE) == []


@pytest.mark.parametrize("seeds", SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N SHRINK=1`."""
    assert played(seeds[: scale.count(f"schedules from {seeds.start}", len(seeds), SMALL)]) == []


GANGS = 1_000
"""Schedules with gangs."""
RARE_GANGS = (10747, 12676, 13361)
"""The same, with gangs: all of a simulator that was wrong itself."""
GANG_SEEDS = [range(first, first + GANGS // 4) for first in range(0, GANGS, GANGS // 4)]


def test_the_rare_ones_hold_with_gangs() -> None:
    """Batches that a gang has broken into, a job that works with a part of its gang, patience at the end."""
    assert played(RARE_GANGS, "gangs") == []


@pytest.mark.parametrize("seeds", GANG_SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds_with_gangs(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N GANGS=1 SHRINK=1`."""
    count = scale.count(f"gang schedules from {seeds.start}", len(seeds), 4 * SMALL)
    assert played(seeds[:count], "gangs") == []


RARE_SESSIONS = (2951, 5769, 6089, 9145, 11115, 14017, 18200, 18675, 21068, 24826, 26749)
"""The same, where drivers come and go."""
SESSION_SEEDS = [range(first, first + SESSIONS // 4) for first in range(0, SESSIONS, SESSIONS // 4)]


def test_the_rare_ones_hold_where_drivers_come_and_go() -> None:
    """Of the allocator: 2951 and 24826 (a refusal taken back), 14017, 18200 and 18675 (one came back)."""
    assert played(RARE_SESSIONS, "sessions") == []


@pytest.mark.parametrize("seeds", SESSION_SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds_where_drivers_come_and_go(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N SESSIONS=1 SHRINK=1`."""
    count = scale.count(f"session schedules from {seeds.start}", len(seeds), 5 * SMALL)
    assert played(seeds[:count], "sessions") == []


FILES = 1_000
"""Schedules in which executors wait for their files, or cannot have them."""
FILE_SEEDS = [range(first, first + FILES // 2) for first in range(0, FILES, FILES // 2)]


@pytest.mark.parametrize("seeds", FILE_SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds_where_files_are_missing(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N FILES=1 SHRINK=1`."""
    count = scale.count(f"file schedules from {seeds.start}", len(seeds), 4 * SMALL)
    assert played(seeds[:count], "files") == []


MEMORY = 1_000
"""Schedules in which executors need more memory than their profile says."""
MEMORY_SEEDS = [range(first, first + MEMORY // 2) for first in range(0, MEMORY, MEMORY // 2)]


@pytest.mark.parametrize("seeds", MEMORY_SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds_where_memory_is_short(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N MEMORY=1 SHRINK=1`."""
    count = scale.count(f"memory schedules from {seeds.start}", len(seeds), 4 * SMALL)
    assert played(seeds[:count], "memory") == []


POOLS = 1_000
"""Schedules with pools of nodes, of which one has no room."""
POOL_SEEDS = [range(first, first + POOLS // 2) for first in range(0, POOLS, POOLS // 2)]


@pytest.mark.parametrize("seeds", POOL_SEEDS, ids=lambda seeds: f"from-{seeds.start}")
def test_every_law_holds_with_pools(seeds: range) -> None:
    """A seed that is named here is played again by `make replay SEED=N POOLS=1 SHRINK=1`."""
    count = scale.count(f"pool schedules from {seeds.start}", len(seeds), 4 * SMALL)
    assert played(seeds[:count], "pools") == []
