"""What a replay gives, and what an application that was recorded gave: the same facts of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkgen.eventlog import Executor, Recording

Steps = tuple[tuple[float, int], ...]
"""Times at which a number changes, and what it is from then on."""


@dataclass(frozen=True, slots=True)
class Span:
    """When a stage ran."""

    id: int
    attempt: int
    name: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Lifetime:
    """An executor: from when its pod is paid for, when it registered, when it ended."""

    created: float | None
    """When its pod began to run, or was asked for in a log, which does not say more; None: it never ran."""
    registered: float | None
    ended: float
    profile: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an application went. Times in seconds since it began."""

    wall: float
    executor_seconds: float
    """From registration to the end, summed."""
    pod_seconds: float
    """From when a pod runs to its end, summed: what is paid for."""
    task_seconds: float
    """Seconds that task attempts ran, summed."""
    executors: Steps
    """How many are registered."""
    pods: Steps
    """How many pods there are that are paid for."""
    most: int
    stages: tuple[Span, ...]
    slots: int
    """Tasks that an executor of the default profile runs at one time."""
    lost: int = 0
    """Executors that were taken away."""
    slot_seconds: float | None = None
    """Of all executors, where there are several resource profiles."""
    by_profile: Mapping[int, Steps] = field(default_factory=dict)
    """Pods of each resource profile beside the default one."""

    @property
    def idle(self) -> float:
        """The part of the executors' time in which their slots ran nothing, from 0 to 1."""
        there = self.executor_seconds * self.slots if self.slot_seconds is None else self.slot_seconds
        return max(0.0, 1 - self.task_seconds / there) if there > 0 else 0.0


def steps(spans: Iterable[tuple[float, float]]) -> Steps:
    """How many of these spans of time hold, at each time at which that changes."""
    changes: dict[float, int] = {}
    for begin, end in spans:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    found, there = [(0.0, 0)], 0
    for time in sorted(changes):
        there += changes[time]
        if changes[time]:
            found.append((time, there))
    return tuple(found)


def most_at_once(spans: Iterable[tuple[float, float]]) -> int:
    """How many of these spans of time hold together at most."""
    return max(count for _, count in steps(spans))


def total(over_time: Steps, end: float) -> float:
    """The seconds under steps, until an end."""
    ends = [*(time for time, _ in over_time[1:]), end]
    return sum(count * max(0.0, until - time) for (time, count), until in zip(over_time, ends, strict=True))


def difference(whole: Steps, parts: Iterable[Steps]) -> Steps:
    """What is left of a number over time without some parts of it."""
    changes: dict[float, int] = {}
    for sign, one in ((1, whole), *((-1, part) for part in parts)):
        before = 0
        for time, count in one:
            changes[time] = changes.get(time, 0) + sign * (count - before)
            before = count
    there, found = changes.pop(0.0, 0), []
    found.append((0.0, there))
    for time in sorted(changes):
        there += changes[time]
        found.append((time, there))
    return tuple(found)


def summed(
    wall: float,
    lives: Sequence[Lifetime],
    spans: Iterable[Span],
    tasks: float,
    slots: int | Mapping[int, int],
    lost: int = 0,
) -> Outcome:
    """The outcome of these executors and stages. `slots`: of an executor, or of one of each profile."""
    several = {} if isinstance(slots, int) else slots
    there = [(one.profile, one.registered, one.ended) for one in lives if one.registered is not None]
    paid = [(one.profile, one.created, one.ended) for one in lives if one.created is not None]
    over_time = steps((begin, end) for _, begin, end in there)
    return Outcome(
        wall=wall,
        executor_seconds=sum(end - begin for _, begin, end in there),
        pod_seconds=sum(end - begin for _, begin, end in paid),
        task_seconds=tasks,
        executors=over_time,
        pods=steps((begin, end) for _, begin, end in paid),
        most=max(count for _, count in over_time),
        stages=tuple(spans),
        slots=slots if isinstance(slots, int) else slots[0],
        lost=lost,
        slot_seconds=sum((end - begin) * several[id_] for id_, begin, end in there) if several else None,
        by_profile={
            id_: steps((begin, end) for own, begin, end in paid if own == id_) for id_ in several if id_
        },
    )


def end_of(recording: Recording, executor: Executor) -> float:
    """When a recorded executor ended."""
    return recording.ended if executor.removed is None else max(executor.added, executor.removed)


def recorded(
    recording: Recording, slots: int | Mapping[int, int], asked: Sequence[float | None] = ()
) -> Outcome:
    """What the log says, without a replay. `asked`: when each executor was asked for, if that is known."""
    lives = [
        Lifetime(
            created=_created(recording, one, asked[place] if asked else one.requested),
            registered=one.added,
            ended=end_of(recording, one),
            profile=one.profile,
        )
        for place, one in enumerate(recording.executors)
    ]
    spans = [
        Span(
            one.id,
            one.attempt,
            one.name,
            one.submitted,
            recording.ended if one.completed is None else one.completed,
        )
        for one in recording.stages
    ]
    return summed(recording.wall, lives, spans, recording.task_seconds, slots)


def _created(recording: Recording, executor: Executor, asked: float | None) -> float:
    """When a pod was asked for; those of the first executors are there from the start."""
    if asked is None or (executor.requested is not None and recording.is_first(executor)):
        return 0.0
    return min(asked, executor.added)
