"""A schedule that breaks a law, made as small as it can be while it still breaks that law."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.simulator.plan import Schedule

T = TypeVar("T")
Breaks = Callable[[Schedule], bool]


def shrunk(plan: Schedule, breaks: Breaks) -> Schedule:
    """The smallest schedule that can be found by leaving out parts, one after the other, until none can be.

    `breaks` says whether a schedule still breaks the law.
    """
    while True:
        smaller = next((other for other in _smaller(plan) if breaks(other)), None)
        if smaller is None:
            return plan
        plan = smaller


def _smaller(plan: Schedule) -> Iterator[Schedule]:
    """Schedules that are a little smaller, the boldest first."""
    if len(plan.faults) > 1:
        half = len(plan.faults) // 2
        yield replace(plan, faults=plan.faults[:half])
        yield replace(plan, faults=plan.faults[half:])
    for index in range(len(plan.faults)):
        yield replace(plan, faults=_without(plan.faults, index))
    for index in range(len(plan.wishes)):
        yield replace(plan, wishes=_without(plan.wishes, index))
    for index in range(len(plan.tunings)):
        yield replace(plan, tunings=_without(plan.tunings, index))
    for index, fault in enumerate(plan.faults):
        if fault.count > 1:
            fewer = replace(fault, count=fault.count - 1)
            yield replace(plan, faults=(*plan.faults[:index], fewer, *plan.faults[index + 1 :]))
    usual = AllocationSettings()
    plain = replace(
        plan.settings,
        batch_size=None,
        max_pending=None,
        max_unschedulable=usual.max_unschedulable,
        wait_for_registration=False,
    )
    for simpler in (
        replace(plan, settings=plain),
        replace(plan, away_at_the_end=False),
        replace(plan, ends_cleanly=True),
    ):
        if simpler != plan:
            yield simpler


def _without(items: tuple[T, ...], index: int) -> tuple[T, ...]:
    return items[:index] + items[index + 1 :]
