"""Limits the work for all replays of a question, counted and not timed."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.errors import SparkgenError
from sparkgen.whatif.workload import Workload

MOST_LOOKS = 1_000_000_000
"""The most looks at an executor or a stage in all replays of a question: as many take some ten minutes."""
FIRST_LOOKS = 20_000_000
LOOKS_PER_TASK = 300_000
"""With FIRST_LOOKS, the limit for a small log: a log of a few KiB takes some seconds. It is enough for some
100 replays with 3,000 idle executors for each task."""


class TooMuchWork(SparkgenError):
    """The replays of a question take too long; the text says what to do."""


@dataclass(slots=True)
class Looks:
    """What is left of the work for all replays of a question, in looks at an executor or a stage."""

    left: int = MOST_LOOKS

    def count(self, number: int) -> None:
        """Count a look at so many executors or stages. Raises TooMuchWork if none is left."""
        self.left -= number
        if self.left < 0:
            raise TooMuchWork(
                "the replays of this log take too long, because each event looks at too many executors or "
                "stages. Ask for fewer candidates or fewer executors, or give the log of a shorter run"
            )


def looks_for(work: Workload) -> Looks:
    """The limit for all replays of a question about this work: it grows with the tasks, up to MOST_LOOKS."""
    tasks = sum(len(stage.tasks) for stage in work.stages)
    return Looks(min(MOST_LOOKS, FIRST_LOOKS + LOOKS_PER_TASK * tasks))
