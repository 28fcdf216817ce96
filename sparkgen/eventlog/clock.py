"""The time of an application, from its start to its end, even if single events have impossible times.

All times of a log are from the driver's clock. If this clock was set while the application ran, or if the log
was edited, times may be before the start, after the end, or before the events that they follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sparkgen.eventlog.gather import Gathered
from sparkgen.eventlog.recording import Tasks

SLACK = 1000
"""Milliseconds by which an event may be late: listeners get the end while others are still writing."""


@dataclass(slots=True)
class Clock:
    """Converts milliseconds since 1970 to seconds of the application; `moved` counts impossible times."""

    begin: int
    end: int
    moved: int = 0

    def at(self, time: float) -> float:
        """A time as seconds since the start, limited to the time from 0 to the end."""
        if not self.begin - SLACK <= time <= self.end + SLACK:
            self.moved += 1
        return (min(max(time, self.begin), self.end) - self.begin) / 1e3

    def after(self, earlier: float, time: float) -> float:
        """The time, in seconds, or `earlier` if it is before that."""
        if time < earlier - SLACK / 1e3:
            self.moved += 1
        return max(earlier, time)


def clock_of(so_far: Gathered, start: int) -> Clock:
    """The clock of the gathered events. If most tasks are outside start and end, these are corrected."""
    begin = start
    end = so_far.end if so_far.end is not None else so_far.last_work or so_far.last
    moved = 0
    if so_far.first_launch < begin - SLACK and _most(so_far.tasks.values(), before=begin):
        begin = min([so_far.first_launch, *(job.time or start for job in so_far.jobs.values())])
        moved += 1
    if so_far.last_finish > end + SLACK and _most(so_far.tasks.values(), after=end):
        end = so_far.last_work
        moved += 1
    return Clock(begin, max(begin, end), moved + (end < begin))


def _most(columns: Iterable[Tasks], before: float = float("-inf"), after: float = float("inf")) -> bool:
    """Whether most tasks began before a time, or ended after one. The columns still have milliseconds."""
    outside = total = 0
    for tasks in columns:
        total += len(tasks)
        outside += sum(time < before for time in tasks.launched) + sum(
            time > after for time in tasks.finished
        )
    return outside * 2 > total
