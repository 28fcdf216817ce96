"""The result of a replay or of a recorded application, with the same facts for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkgen.eventlog import Executor, Recording

Steps = tuple[tuple[float, int], ...]
"""A number over time: the times at which it changes, each with the number from then on."""


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
    """An executor: when the cost of its pod begins, when it registered, when it ended."""

    created: float | None
    """When its pod began to run, or in a log, which lacks this time, was requested; None: it never ran."""
    registered: float | None
    ended: float
    profile: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an application. Times in seconds since its start."""

    wall: float
    executor_seconds: float
    """The sum of the seconds from registration to the end."""
    pod_seconds: float
    """The sum of the seconds for which pods ran: these determine the cost."""
    task_seconds: float
    """The sum of the durations of task attempts."""
    executors: Steps
    """The number of registered executors."""
    pods: Steps
    """The number of pods that count for the cost."""
    most: int
    stages: tuple[Span, ...]
    slots: int
    """The number of tasks that an executor of the default profile runs at one time."""
    lost: int = 0
    """The number of lost executors."""
    slot_seconds: float | None = None
    """The slot-seconds of all executors, if there are several resource profiles."""
    by_profile: Mapping[int, Steps] = field(default_factory=dict)
    """Resource profile -> its pods over time, without the default profile."""

    @property
    def idle(self) -> float:
        """The part of the executors' time in which their slots ran nothing, from 0 to 1."""
        there = self.executor_seconds * self.slots if self.slot_seconds is None else self.slot_seconds
        return max(0.0, 1 - self.task_seconds / there) if there > 0 else 0.0


def steps(spans: Iterable[tuple[float, float]]) -> Steps:
    """The number of these spans of time that overlap, over time."""
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
    """The most of these spans of time that overlap."""
    return max(count for _, count in steps(spans))


def total(over_time: Steps, end: float) -> float:
    """The integral of a number over time, until an end."""
    ends = [*(time for time, _ in over_time[1:]), end]
    return sum(count * max(0.0, until - time) for (time, count), until in zip(over_time, ends, strict=True))


def difference(whole: Steps, parts: Iterable[Steps]) -> Steps:
    """A number over time minus some parts of it."""
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
    """The outcome of these executors and stages. `slots`: those of an executor, or profile -> slots."""
    several = {} if isinstance(slots, int) else slots
    there = [(one.profile, one.registered, one.ended) for one in lives if one.registered is not None]
    paid = [(one.profile, one.created, one.ended) for one in lives if one.created is not None]
    over_time = steps((begin, end) for _, begin, end in there)
    by_profile: dict[int, list[tuple[float, float]]] = {}
    for id_, begin, end in paid:
        by_profile.setdefault(id_, []).append((begin, end))
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
        by_profile={id_: steps(by_profile.get(id_, ())) for id_ in several if id_},
    )


def end_of(recording: Recording, executor: Executor) -> float:
    """When a recorded executor ended."""
    return recording.ended if executor.removed is None else max(executor.added, executor.removed)


def recorded(
    recording: Recording, slots: int | Mapping[int, int], asked: Sequence[float | None] = ()
) -> Outcome:
    """The outcome in the log, without a replay. `asked`: when each executor was requested, if known."""
    first_job = recording.first_job
    lives = [
        Lifetime(
            created=_created(first_job, one, asked[place] if asked else one.requested),
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


def _created(first_job: float, executor: Executor, asked: float | None) -> float:
    """When a pod was requested; 0 for the pods of the first executors, which exist from the start."""
    if asked is None or (executor.requested is not None and executor.is_first(first_job)):
        return 0.0
    return min(asked, executor.added)
