"""The slots of a recording's executors: the number of free slots over time."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sparkgen.eventlog import Executor, Recording, Stage
from sparkgen.whatif.configuration import Configuration


def slots_of(executor: Executor, settings: Configuration) -> int:
    """The number of tasks that a recorded executor could run at one time."""
    return settings.shape(executor.profile).slots_of(executor.cores)


@dataclass(frozen=True, slots=True)
class Slots:
    """The number of slots, and of free slots, at any time of the recording."""

    launched: Sequence[float]
    finished: Sequence[float]
    changes: Sequence[float]
    """The times at which the number of slots changed."""
    there: Sequence[int]
    """The number of slots before each of these times, and after the last."""

    @classmethod
    def of(cls, recording: Recording, settings: Configuration) -> Slots:
        """The slots of all executors and tasks of a recording."""
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
        """The number of slots at a time."""
        return self.there[bisect.bisect_right(self.changes, time)]

    def free(self, time: float) -> int:
        """The number of free slots at a time."""
        there = self.total(time)
        running = bisect.bisect_right(self.launched, time) - bisect.bisect_right(self.finished, time)
        return there - running

    def launch(self, stage: Stage) -> float:
        """Seconds until a stage's first task started; 0 if it may have waited for a slot."""
        first = min(stage.tasks.launched, default=stage.submitted)
        return max(0.0, first - stage.submitted) if self.free(stage.submitted) > 0 else 0.0
