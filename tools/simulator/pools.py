"""Schedules with pools of nodes, of which one has no room. They are made from a seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from simulator.schedule import (
    OF_POOLS,
    POOLS,
    FaultKind,
    InjectedFault,
    Schedule,
    schedule_of,
)
from sparkgen.runtime.allocator.values.settings import AllocationSettings, Pool

SHARES = ((0, 0), (0, 34), (0, 100), (50, 50), (75, 25))
"""The least parts of the two pools in percent."""
TIMEOUTS = (5.0, 12.0, 40.0)
"""Seconds for which executors wait for a node of their pool."""


def pool_schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed, with two pools of two nodes; either has room for all executors.

    A node that is removed for good is not replaced, so these schedules have none.
    """
    schedule = schedule_of(seed, tuple(kind for kind in focus if kind not in OF_POOLS))
    random = Random(f"pools {seed}")
    names = ("spot", "stable")
    pools = tuple(Pool(name, share) for name, share in zip(names, random.choice(SHARES), strict=True))
    timeout = random.choice(TIMEOUTS)
    found = [fault for fault in schedule.faults if fault.kind is not FaultKind.NODE_GONE]
    if random.random() < 0.5:
        found.append(
            InjectedFault(random.uniform(0.0, 20.0), FaultKind.POOL_DRY, count=random.randint(1, POOLS))
        )
    if random.random() < 0.6:
        length = random.uniform(1.0, 4.0) * timeout
        at = random.uniform(0.0, 20.0)
        found.append(InjectedFault(at, FaultKind.POOL_SHORT, length, random.randint(1, POOLS)))
    changed = tuple(
        replace(change, settings=_with_pools(change.settings, pools, timeout))
        for change in schedule.settings_changes
    )
    return replace(
        schedule,
        settings=_with_pools(schedule.settings, pools, timeout),
        settings_changes=changed,
        faults=tuple(sorted(found, key=lambda fault: fault.at)),
        calm_at=max([schedule.calm_at, *(fault.at + fault.amount + 1.0 for fault in found)]),
        nodes=2 * POOLS,
    )


def _with_pools(settings: AllocationSettings, pools: tuple[Pool, ...], timeout: float) -> AllocationSettings:
    return replace(settings, pools=pools, pool_timeout=timeout)
