"""The micro-batches of streams: the clock that starts them, and the driver's time before each.

Spark's ProcessingTimeExecutor starts a batch at the next multiple of the trigger's interval after the start
of the previous batch, or at once if that batch took longer. A log has neither the interval nor the part of a
gap that was waiting. So both are inferred: batches that waited started whole intervals apart, and the time
that the driver needs before a batch is the shortest gap in the log.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparkgen.eventlog import Job
from sparkgen.whatif.remark import Remark, RemarkCode

WAITED = 0.1
"""A batch has waited if its gap is longer than the shortest by more than these seconds."""
_SLACK = 1e-6
UNEVEN = 0.1
"""The part of an interval by which starts may be off, because drivers are not punctual."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The times at which batches may start: `first`, in seconds of the application, plus whole intervals."""

    interval: float
    first: float

    def after(self, time: float) -> float:
        """The next such time after a batch that started at `time`."""
        return self.first + self.interval * (math.floor((time + _SLACK - self.first) / self.interval) + 1)


@dataclass(frozen=True, slots=True)
class Batch:
    """The start of a batch that follows another batch."""

    before: int
    """Index of the first job of the previous batch."""
    gap: float
    """The driver's seconds between the two batches."""
    clock: Clock | None
    """None if no clock can be inferred, for example because batches start when there is data."""


def batches(jobs: Sequence[Job], ends: Sequence[float]) -> Mapping[int, Batch]:
    """Index of the first job of a batch -> the batch; without the first batches of streams.

    `ends`: the end of each job.
    """
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
    """The remark that a run's end depends on its start, if there is a clock."""
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
    """Stream -> the indexes of its jobs, a list for each batch, in the order of their start."""
    found: dict[str, dict[str, list[int]]] = {}
    for place, job in enumerate(jobs):
        if job.batch:
            found.setdefault(job.stream, {}).setdefault(job.batch, []).append(place)
    return {stream: [*places.values()] for stream, places in found.items()}


def _clock(begins: Sequence[float]) -> Clock | None:
    """The clock, from the starts of batches that waited; None if these are not whole intervals apart."""
    apart = [later - earlier for earlier, later in pairwise(begins)]
    shortest = min(apart, default=0.0)
    if shortest <= WAITED:
        return None
    counts = [round(one / shortest) for one in apart]
    interval = sum(apart) / sum(counts)
    if any(abs(one - count * interval) > UNEVEN * interval for one, count in zip(apart, counts, strict=True)):
        return None
    return Clock(interval, begins[0])
