"""Schedules in which executors wait for their files, or can no longer get them. They are made from a seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from simulator.schedule import OF_FILES, FaultKind, InjectedFault, Schedule, schedule_of


def file_schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed, with an unreachable registry for a while; in half of them, files get lost."""
    schedule = schedule_of(seed, tuple(kind for kind in focus if kind not in OF_FILES))
    random = Random(f"files {seed}")
    found = [
        InjectedFault(random.uniform(0.0, 20.0), FaultKind.FETCH_SLOW, random.choice((5.0, 15.0, 40.0)))
        for _ in range(random.choice((1, 2)))
    ]
    if random.random() < 0.5 or FaultKind.NO_FILES in focus:
        found.append(InjectedFault(random.choice((0.0, random.uniform(0.0, 20.0))), FaultKind.NO_FILES))
    faults = (*schedule.faults, *found)
    return replace(
        schedule,
        faults=tuple(sorted(faults, key=lambda fault: fault.at)),
        calm_at=max([schedule.calm_at, *(fault.at + fault.amount + 1.0 for fault in found)]),
    )
