"""The micro-batches of streams: which of them a clock begins, and what the driver does before each.

Spark's ProcessingTimeExecutor begins a batch at the next multiple of the trigger's interval after the time at
which the batch before began, or at once where that one took longer. A log says neither the interval nor what
of a gap was waiting: batches that waited began at times that are whole intervals apart, and what the driver
needs before a batch is the shortest gap that there was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparkgen.eventlog import Job
from sparkgen.whatif.remark import Remark, RemarkCode

WAITED = 0.1
"""Seconds of a gap beyond the shortest from which on a batch has waited."""
_SLACK = 1e-6
UNEVEN = 0.1
"""Part of an interval by which begins may be off, as drivers are not punctual."""


@dataclass(frozen=True, slots=True)
class Clock:
    """When batches may begin: `first`, in seconds of the application, and all whole intervals from it."""

    interval: float
    first: float

    def after(self, time: float) -> float:
        """The next such time after a batch that began at `time`."""
        return self.first + self.interval * (math.floor((time + _SLACK - self.first) / self.interval) + 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """The begin of a batch that follows another one."""

    before: int
    """Place of the first job of the batch before."""
    gap: float
    """Seconds of the driver between the two."""
    clock: Clock | None
    """None: no clock can be seen, as where batches begin when there is data."""


def batches(jobs: Sequence[Job], ends: Sequence[float]) -> Mapping[int, Batch]:
    """For the first job of each batch but a stream's first, by its place. `ends`: when each job ended."""
    found: dict[int, Batch] = {}
    for places in _by_stream(jobs).values():
        heads = [one[0] for one in places]
        ended = [max(ends[place] for place in one) for one in places]
        gaps = [max(0.0, jobs[own].submitted - end) for own, end in zip(heads[1:], ended[:-1], strict=True)]
        shortest = min(gaps, default=0.0)
        waited = [own for own, gap in zip(heads[1:], gaps, strict=True) if gap > shortest + WAITED]
        clock = _clock([jobs[place].submitted for place in waited])
        for before, own, gap in zip(heads, heads[1:], gaps, strict=False):
            found[own] = Batch(before, shortest if gap > shortest + WAITED else gap, clock)
    return found


def phase_unknown(found: Mapping[int, Batch]) -> list[Remark]:
    """What a clock makes of a run that begins at another moment."""
    intervals = [one.clock.interval for one in found.values() if one.clock is not None]
    if not intervals:
        return []
    return [
        Remark(
            RemarkCode.TRIGGER_PHASE,
            f"micro-batches start by the clock, every {max(intervals):.3g} s: depending on when a run "
            "starts, it can end up to one interval sooner or later",
        )
    ]


def _by_stream(jobs: Sequence[Job]) -> Mapping[str, list[list[int]]]:
    """The places of each stream's jobs, a list for each batch, in the order of their begin."""
    found: dict[str, dict[str, list[int]]] = {}
    for place, job in enumerate(jobs):
        if job.batch:
            found.setdefault(job.stream, {}).setdefault(job.batch, []).append(place)
    return {stream: [*places.values()] for stream, places in found.items()}


def _clock(begins: Sequence[float]) -> Clock | None:
    """The clock that batches waited for, by when they began; None where they are no whole intervals apart."""
    apart = [later - earlier for earlier, later in pairwise(begins)]
    shortest = min(apart, default=0.0)
    if shortest <= WAITED:
        return None
    counts = [round(one / shortest) for one in apart]
    interval = sum(apart) / sum(counts)
    if any(abs(one - count * interval) > UNEVEN * interval for one, count in zip(apart, counts, strict=True)):
        return None
    return Clock(interval, begins[0])
