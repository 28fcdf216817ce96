"""Schedules with gangs, executors that are useful only together. They are made from a seed, of three sorts.

together  Kubernetes' own gangs: a PodGroup, with all faults
queued    `minExecutors` under Kueue: Spark waits for this many, which the queue admits one by one
rivals    two applications with Kubernetes' own gangs, and nodes for only one of them at a time
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from simulator.schedule import (
    OF_QUEUES,
    FaultKind,
    InjectedFault,
    Schedule,
    SettingsChange,
    schedule_of,
)
from sparkgen.runtime.allocator.values.settings import AllocationSettings

NOT_OF_RIVALS = frozenset(
    {
        *OF_QUEUES,
        FaultKind.NODE_SILENT,
        FaultKind.NODE_DEAD,
        FaultKind.NODE_GONE,
        FaultKind.FULL,
        FaultKind.QUOTA,
    }
)
"""Faults of nodes, and faults that hold back the pods of one of the two, have no place in this test."""


def gang_schedule_of(seed: int, focus: tuple[FaultKind, ...] = ()) -> Schedule:
    """The schedule of a seed with gangs: that of `schedule_of`, changed to one of the three sorts."""
    random = Random(f"gangs {seed}")
    make = random.choice((_together, _together, _queued, _rivals))
    return make(random, seed, focus)


def _together(random: Random, seed: int, focus: tuple[FaultKind, ...]) -> Schedule:
    """A schedule with a PodGroup; in three of ten dynamic ones, a lower minimum dissolves the gang later."""
    schedule = schedule_of(seed, focus)
    settings = _with_gang(schedule.settings, random.randint(2, 3))
    changes = tuple(_bounded(change, settings) for change in schedule.settings_changes)
    if settings.dynamic and random.random() < 0.3:
        lower = replace(settings, minimum=random.randint(0, settings.gang - 1))
        at = random.uniform(0.0, schedule.calm_at)
        changes = (*(change for change in changes if change.at < at), SettingsChange(at, lower))
    return replace(schedule, settings=settings, settings_changes=changes)


def _queued(random: Random, seed: int, focus: tuple[FaultKind, ...]) -> Schedule:
    """A schedule with a queue that mostly has room for fewer executors than Spark waits for."""
    schedule = schedule_of(seed, focus)
    gang, more = random.randint(2, 3), random.randint(0, 2)
    base = _with_gang(schedule.settings, gang)
    settings = replace(base, gang=0, initial=gang + more if base.dynamic else 0)
    settings = replace(settings, maximum=max(settings.maximum or 0, gang + more) if base.dynamic else None)
    at = random.uniform(0.0, 2.0)
    length = max(schedule.calm_at - at - 1.0, 1.0)
    queue = InjectedFault(at, FaultKind.QUEUE, length, random.randint(0, gang))
    return replace(
        schedule,
        settings=settings,
        settings_changes=tuple(_bounded(change, settings) for change in schedule.settings_changes),
        faults=tuple(sorted((*schedule.faults, queue), key=lambda fault: fault.at)),
        begins_with=gang,
    )


def _rivals(random: Random, seed: int, focus: tuple[FaultKind, ...]) -> Schedule:
    """Two applications, each with two or three executors, on nodes with room for four executors."""
    sizes = random.choice(((3, 3), (2, 3), (3, 2)))
    first, second = (
        _rival(schedule_of(number, focus), size)
        for number, size in zip((seed, seed + 1_000_000), sizes, strict=True)
    )
    return replace(first, rival=second)


def _rival(schedule: Schedule, size: int) -> Schedule:
    settings = replace(
        _with_gang(schedule.settings, size), initial=0, instances=size, maximum=size, batch_size=None
    )
    faults = tuple(fault for fault in schedule.faults if fault.kind not in NOT_OF_RIVALS)
    return replace(
        schedule,
        settings=settings,
        settings_changes=(),
        target_changes=(),
        faults=faults,
        nodes=2,
        slots=2,
        begins_with=size,
    )


def _with_gang(settings: AllocationSettings, gang: int) -> AllocationSettings:
    """The settings, changed so that a gang of this size can be complete (rule SG316)."""
    pending, batch = settings.max_pending, settings.batch_size
    return replace(
        settings,
        gang=gang,
        minimum=gang if settings.dynamic else 0,
        instances=max(settings.instances, gang),
        maximum=None if settings.maximum is None else max(settings.maximum, gang),
        max_unschedulable=max(settings.max_unschedulable, gang),
        max_pending=None if pending is None else max(pending, gang),
        batch_size=max(batch, gang) if batch is not None and settings.wait_for_registration else batch,
    )


def _bounded(change: SettingsChange, settings: AllocationSettings) -> SettingsChange:
    """The change of settings without a change of the gang, whose size is in the template."""
    most = change.settings.maximum
    kept = replace(
        settings, hold=change.settings.hold, maximum=None if most is None else max(most, settings.minimum)
    )
    return replace(change, settings=kept)
