"""What a replay gives, and what an application that was recorded gave: the same facts of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sparkgen.eventlog import Recording

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
    """An executor: when its pod was made, when it registered, when it ended."""

    created: float
    registered: float | None
    ended: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an application went. Times in seconds since it began."""

    wall: float
    executor_seconds: float
    """From registration to the end, summed."""
    pod_seconds: float
    """From the pod's creation to its end, summed: what is paid for."""
    task_seconds: float
    """Seconds that task attempts ran, summed."""
    executors: Steps
    """How many are registered."""
    pods: Steps
    """How many pods there are, those that do not run yet, too."""
    most: int
    stages: tuple[Span, ...]
    slots: int
    """Tasks that an executor runs at one time."""
    lost: int = 0
    """Executors that were taken away."""

    @property
    def idle(self) -> float:
        """The part of the executors' time in which their slots ran nothing, from 0 to 1."""
        there = self.executor_seconds * self.slots
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


def summed(
    wall: float, lives: Sequence[Lifetime], spans: Iterable[Span], tasks: float, slots: int, lost: int = 0
) -> Outcome:
    """The outcome of these executors and stages."""
    over_time = steps((one.registered, one.ended) for one in lives if one.registered is not None)
    return Outcome(
        wall=wall,
        executor_seconds=sum(life.ended - life.registered for life in lives if life.registered is not None),
        pod_seconds=sum(life.ended - life.created for life in lives),
        task_seconds=tasks,
        executors=over_time,
        pods=steps((one.created, one.ended) for one in lives),
        most=max(count for _, count in over_time),
        stages=tuple(spans),
        slots=slots,
        lost=lost,
    )


def recorded(recording: Recording, slots: int) -> Outcome:
    """What the log says, without a replay."""
    lives = [
        Lifetime(
            created=0.0 if recording.is_first(one) else one.requested or 0.0,
            registered=one.added,
            ended=recording.ended if one.removed is None else max(one.added, one.removed),
        )
        for one in recording.executors
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
