"""Spark's dynamic allocation: the number of executors that it wants, and the executors that it removes.

The rules are those of Spark's ExecutorAllocationManager and ExecutorMonitor, from the sources of 3.4.4 and
4.0.1 and the classes of 3.5.8 and 4.3.0, which do not differ in any rule:

- every 100 ms it compares its target with the number that all running and waiting tasks need;
- a larger target falls to this number at once, but not below the minimum;
- while tasks wait, the target grows by 1, 2, 4 ... : first after `schedulerBacklogTimeout`, then, after each
  growth, after `sustainedSchedulerBacklogTimeout`;
- an executor is removed after it has run nothing for its time-out: the longest of `executorIdleTimeout` and,
  if it has either, those of cached blocks and of shuffle output that no active job needs. No executor is
  removed below target and minimum; the order is that of the ids as strings.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from sparkgen.whatif.configuration import DynamicAllocation

TICK = 0.1
"""Seconds between two checks (ExecutorAllocationManager.intervalMillis)."""
_SLACK = 1e-9


def next_tick(time: float) -> float:
    """The first check at or after `time`."""
    return math.ceil(time / TICK - _SLACK) * TICK


@dataclass(slots=True)
class Tracked:
    """The state of a registered executor."""

    idle_since: float | None
    """None while it runs a task."""
    running: int = 0
    shuffles: set[int] = field(default_factory=set)
    active_shuffle: bool = False
    """Whether a running job may need its shuffle output."""
    cached: bool = False
    leaving: bool = False
    deadline: float = math.inf
    """When it times out; never while it runs a task, is leaving, or its output is needed."""
    is_queued: bool = False
    """Whether the heap has an entry for it, at its deadline or before: a deadline never gets earlier."""
    is_due: bool = False
    """Whether a check has seen that it timed out."""


@dataclass(slots=True)
class AllocationPolicy:
    """The state of Spark's policy. `slots`: the number of tasks that an executor runs at one time."""

    settings: DynamicAllocation
    slots: int
    most: int
    """`maxExecutors`, or the allocator's own limit."""
    target: int = 0
    executors: dict[int, Tracked] = field(default_factory=dict)
    _initializing: bool = True
    _add_at: float | None = None
    _to_add: int = 1
    _deadlines: list[tuple[float, int]] = field(default_factory=list)
    """A heap of deadlines and executors; a deadline that changed is replaced when it comes first."""
    _due: list[tuple[str, int]] = field(default_factory=list)
    """The executors that timed out, sorted by their ids as strings."""
    _staying: int = 0
    """The number of executors that are not leaving."""

    def __post_init__(self) -> None:
        self.target = self.settings.initial

    def begun(self) -> None:
        """Allow the target to fall, because the first executors are in use, or were idle for too long."""
        self._initializing = False

    def stage_submitted(self, now: float) -> None:
        """Handle the submission of a stage, whose tasks now wait."""
        self.begun()
        self.backlogged(now)

    def backlogged(self, now: float) -> None:
        """Start the timer of growth, because tasks wait."""
        if self._add_at is None:
            self._add_at = now + self.settings.backlog_timeout

    def queue_empty(self) -> None:
        """Stop the timer of growth, because no task waits."""
        self._add_at = None
        self._to_add = 1

    def executor_added(self, id_: int, now: float) -> None:
        """Add a registered executor."""
        self.executors[id_] = Tracked(idle_since=now)
        self._staying += 1
        self._changed(id_)

    def executor_removed(self, id_: int) -> None:
        """Remove an executor that is gone."""
        executor = self.executors.get(id_)
        if executor is not None:
            self._staying -= not executor.leaving
            self._not_due(id_, executor)
            del self.executors[id_]

    def task_started(self, id_: int) -> None:
        """Handle the start of a task."""
        executor = self.executors[id_]
        executor.running += 1
        executor.idle_since = None
        self._changed(id_)

    def task_ended(self, id_: int, now: float, shuffle: int | None, cached: bool) -> None:
        """Handle the end of a task. `shuffle`: the executor keeps its output; `cached`: it keeps blocks."""
        executor = self.executors.get(id_)
        if executor is None:
            return
        if shuffle is not None and self.settings.tracking:
            executor.active_shuffle |= shuffle not in executor.shuffles
            executor.shuffles.add(shuffle)
        executor.cached |= cached
        executor.running -= 1
        if executor.running == 0:
            executor.idle_since = now
        self._changed(id_)

    def shuffles_active(self, active: Iterable[int]) -> None:
        """Set the shuffles that running jobs may need."""
        known = frozenset(active)
        for id_, executor in self.executors.items():
            executor.active_shuffle = not known.isdisjoint(executor.shuffles)
            self._changed(id_)

    def look(self, now: float, tasks: int) -> list[int]:
        """Update the target for this many running and waiting tasks. Returns the executors to remove."""
        self._pass(now)
        if self._due:
            self.begun()
        self.set_target(now, tasks)
        return self._let_go()

    def next_look(self, now: float) -> float | None:
        """When a check may change something without any other event; None if never."""
        self._pass(now)
        times = [deadline for deadline, _ in self._deadlines[:1]]
        if (growth := self.grows_at(now)) is not None:
            times.append(growth)
        return next_tick(min(times)) if times else None

    def grows_at(self, now: float) -> float | None:
        """When the target may grow, if tasks still wait; None once this time has passed, until an event."""
        return self._add_at if self._add_at is not None and self._add_at > now + _SLACK else None

    def _changed(self, id_: int) -> None:
        """Note the deadline of an executor that has changed."""
        executor = self.executors[id_]
        deadline = self._deadline(executor)
        if deadline == executor.deadline:
            return
        self._not_due(id_, executor)
        executor.deadline = deadline
        self._queue(id_, executor)

    def _queue(self, id_: int, executor: Tracked) -> None:
        if executor.deadline < math.inf and not executor.is_queued:
            executor.is_queued = True
            heapq.heappush(self._deadlines, (executor.deadline, id_))

    def _pass(self, now: float) -> None:
        """Move the executors that have timed out to those that are due; the first deadline is one to come."""
        while self._deadlines:
            deadline, id_ = self._deadlines[0]
            executor = self.executors.get(id_)
            current = executor is not None and executor.deadline == deadline
            if current and deadline > now + _SLACK:
                return
            heapq.heappop(self._deadlines)
            if executor is not None:
                executor.is_queued = False
                if current:
                    executor.is_due = True
                    bisect.insort(self._due, (str(id_), id_))
                else:
                    self._queue(id_, executor)

    def _not_due(self, id_: int, executor: Tracked) -> None:
        if executor.is_due:
            executor.is_due = False
            del self._due[bisect.bisect_left(self._due, (str(id_), id_))]

    def _deadline(self, executor: Tracked) -> float:
        if executor.idle_since is None or executor.leaving or executor.active_shuffle:
            return math.inf
        timeouts = [self.settings.idle_timeout]
        timeouts += [self.settings.cached_timeout] if executor.cached else []
        timeouts += [self.settings.tracking_timeout] if executor.shuffles else []
        return executor.idle_since + max(timeouts)

    def needed(self, tasks: int) -> int:
        """The number of executors that this many tasks need."""
        return math.ceil(tasks * self.settings.ratio / self.slots - _SLACK)

    def set_target(self, now: float, tasks: int) -> None:
        """Update the target in a check, for this many running and waiting tasks."""
        if self._initializing:
            return
        needed = self.needed(tasks)
        if needed < self.target:
            self.target = max(needed, self.settings.minimum)
            self._to_add = 1
        elif self._add_at is not None and now + _SLACK >= self._add_at and self._grow(needed):
            self._add_at = now + self.settings.sustained_timeout

    def _grow(self, needed: int) -> bool:
        """Raise the target. Returns whether it changed; if not, the next check may: the timer has run out."""
        before = self.target
        if before < self.most:
            grown = min(max(before, len(self.executors)) + self._to_add, needed)
            self.target = max(min(grown, self.most), self.settings.minimum)
        added = self.target - before
        self._to_add = self._to_add * 2 if added == self._to_add else 1
        return added != 0

    def _let_go(self) -> list[int]:
        least = max(self.settings.minimum, self.target)
        gone = [id_ for _, id_ in self._due[: max(0, self._staying - least)]]
        for id_ in gone:
            self.executors[id_].leaving = True
            self._staying -= 1
            self._changed(id_)
        return gone
