"""Makes a schedule that breaks an invariant as small as possible, so that it still breaks this invariant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from simulator.schedule import Schedule
from sparkgen.runtime.allocator.values.settings import AllocationSettings

T = TypeVar("T")
Breaks = Callable[[Schedule], bool]


def shrunk(schedule: Schedule, breaks: Breaks) -> Schedule:
    """The smallest schedule that is found by removing parts one by one, until no more can be removed.

    `breaks`: whether a schedule still breaks the invariant.
    """
    while True:
        smaller = next((other for other in _smaller(schedule) if breaks(other)), None)
        if smaller is None:
            return schedule
        schedule = smaller


def _smaller(schedule: Schedule) -> Iterator[Schedule]:
    """Schedules that are smaller than this one; those with the largest differences come first."""
    if len(schedule.faults) > 1:
        half = len(schedule.faults) // 2
        yield replace(schedule, faults=schedule.faults[:half])
        yield replace(schedule, faults=schedule.faults[half:])
    for index in range(len(schedule.faults)):
        yield replace(schedule, faults=_without(schedule.faults, index))
    for index in range(len(schedule.target_changes)):
        yield replace(schedule, target_changes=_without(schedule.target_changes, index))
    for index in range(len(schedule.settings_changes)):
        yield replace(schedule, settings_changes=_without(schedule.settings_changes, index))
    if schedule.rival is not None:
        yield from (replace(schedule, rival=rival) for rival in _smaller(schedule.rival))
    for index, fault in enumerate(schedule.faults):
        if fault.count > 1:
            fewer = replace(fault, count=fault.count - 1)
            yield replace(schedule, faults=(*schedule.faults[:index], fewer, *schedule.faults[index + 1 :]))
    usual = AllocationSettings()
    plain = replace(
        schedule.settings,
        batch_size=None,
        max_pending=None,
        max_unschedulable=usual.max_unschedulable,
        wait_for_registration=False,
    )
    for simpler in (
        replace(schedule, settings=plain),
        replace(schedule, away_at_the_end=False),
        replace(schedule, ends_cleanly=True),
    ):
        if simpler != schedule:
            yield simpler


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]
