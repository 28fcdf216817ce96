"""Schedules in which executors need more memory than their profile says. They are made from a seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from simulator.schedule import MAX_BY_APPLICATION, OF_MEMORY, FaultKind, InjectedFault, Schedule, schedule_of
from sparkgen.runtime.allocator.values.settings import AllocationSettings, MemoryRecovery

STEPS = (100, 150, 300)
"""MiB of one step: some are no divisor of the need, or of the maximum."""
MOST = 600
"""The maximum of all steps in MiB: at least as much as executors ever need."""
KILLS = 3
"""The most further kills of executors that have enough memory."""


def memory_schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed, in which executors are killed for lack of memory until they have enough.

    In half of the schedules, some are killed with enough memory, too: another process of theirs needed it.
    """
    schedule = schedule_of(seed, tuple(kind for kind in focus if kind not in OF_MEMORY))
    random = Random(f"memory {seed}")
    recovery = MemoryRecovery(random.choice(STEPS), MOST)
    need = random.randint(1, MOST // 100)
    found = [InjectedFault(random.choice((0.0, random.uniform(0.0, 15.0))), FaultKind.HUNGRY, count=need)]
    if random.random() < 0.5:
        found += [
            InjectedFault(random.uniform(5.0, 40.0), FaultKind.OOM) for _ in range(random.randint(1, KILLS))
        ]
    faults = [*(fault for fault in schedule.faults if fault.kind is not FaultKind.OOM), *found]
    changed = tuple(
        replace(change, settings=_recovering(change.settings, recovery))
        for change in schedule.settings_changes
    )
    return replace(
        schedule,
        settings=_recovering(schedule.settings, recovery),
        settings_changes=changed,
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        calm_at=max([schedule.calm_at, *(fault.at + 1.0 for fault in found)]),
    )


def _recovering(settings: AllocationSettings, recovery: MemoryRecovery) -> AllocationSettings:
    """The settings with this recovery, and with room for the kills at its maximum, which count."""
    return replace(settings, memory_recovery=recovery, max_failures=MAX_BY_APPLICATION + KILLS)
