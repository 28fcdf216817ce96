"""The slots of a recording's executors: how many were free, and when."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sparkgen.eventlog import Recording, Stage


@dataclass(frozen=True, slots=True)
class Slots:
    """How many slots were free, at any time of the recording."""

    launched: Sequence[float]
    finished: Sequence[float]
    changes: Sequence[float]
    """Times at which slots came or went."""
    there: Sequence[int]
    """How many there were before each of them, and after the last."""

    @classmethod
    def of(cls, recording: Recording) -> Slots:
        """Of all executors and tasks of a recording."""
        columns = [stage.tasks for stage in recording.stages]
        stayed = [one for one in recording.executors if one.removed is None or one.removed > one.added]
        changes = [(one.added, one.cores) for one in stayed]
        changes += [(one.removed, -one.cores) for one in stayed if one.removed is not None]
        changes.sort()
        return cls(
            sorted(time for tasks in columns for time in tasks.launched),
            sorted(time for tasks in columns for time in tasks.finished),
            [time for time, _ in changes],
            [0, *itertools.accumulate(cores for _, cores in changes)],
        )

    def free(self, time: float) -> int:
        """How many were free at a time."""
        there = self.there[bisect.bisect_right(self.changes, time)]
        running = bisect.bisect_right(self.launched, time) - bisect.bisect_right(self.finished, time)
        return there - running

    def launch(self, stage: Stage) -> float:
        """Seconds until a stage's first task started; 0 where it may have waited for a slot."""
        first = min(stage.tasks.launched, default=stage.submitted)
        return max(0.0, first - stage.submitted) if self.free(stage.submitted) > 0 else 0.0
