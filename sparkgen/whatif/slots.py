"""The slots of a recording's executors: how many were free, and when."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sparkgen.eventlog import Executor, Recording, Stage
from sparkgen.whatif.configuration import Configuration


def slots_of(executor: Executor, settings: Configuration) -> int:
    """How many tasks a recorded executor ran at one time."""
    return settings.shape(executor.profile).slots_of(executor.cores)


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
    def of(cls, recording: Recording, settings: Configuration) -> Slots:
        """Of all executors and tasks of a recording."""
        columns = [stage.tasks for stage in recording.stages]
        stayed = [one for one in recording.executors if one.removed is None or one.removed > one.added]
        changes = [(one.added, slots_of(one, settings)) for one in stayed]
        changes += [(one.removed, -slots_of(one, settings)) for one in stayed if one.removed is not None]
        changes.sort()
        return cls(
            sorted(time for tasks in columns for time in tasks.launched),
            sorted(time for tasks in columns for time in tasks.finished),
            [time for time, _ in changes],
            [0, *itertools.accumulate(cores for _, cores in changes)],
        )

    def total(self, time: float) -> int:
        """How many there were at a time."""
        return self.there[bisect.bisect_right(self.changes, time)]

    def free(self, time: float) -> int:
        """How many were free at a time."""
        there = self.total(time)
        running = bisect.bisect_right(self.launched, time) - bisect.bisect_right(self.finished, time)
        return there - running

    def launch(self, stage: Stage) -> float:
        """Seconds until a stage's first task started; 0 where it may have waited for a slot."""
        first = min(stage.tasks.launched, default=stage.submitted)
        return max(0.0, first - stage.submitted) if self.free(stage.submitted) > 0 else 0.0
