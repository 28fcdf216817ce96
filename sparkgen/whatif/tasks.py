"""The waiting and running tasks, and the order in which Spark's scheduler assigns them.

Jobs run in their order (FIFO), or pools of jobs by the number of their running tasks (FAIR). Locality is
ignored.
"""

from __future__ import annotations

import bisect
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from sparkgen.whatif.workload import Workload

DEFAULT = "default"
"""The pool of a job without a pool (FairSchedulableBuilder)."""
_COPIED = 64
"""So many stages are copied in the time in which one is looked at."""


@dataclass(slots=True)
class StageState:
    """The state of a stage attempt."""

    waiting: deque[int]
    left: int
    """The number of tasks that have not succeeded."""
    began: float | None = None
    ended: float | None = None
    tried: Counter[int] = field(default_factory=Counter)
    """Task -> the number of its attempts that have ended."""


class Tasks:
    """The tasks of a workload, by the indexes of their stages in it.

    `look` is called with the number of stages that are looked at. `by_profile`: executors run only tasks of
    their own resource profile, so each profile has its own order.
    """

    def __init__(
        self, work: Workload, look: Callable[[int], None], *, fair: bool, by_profile: bool = False
    ) -> None:
        self._work = work
        self._look = look
        self._fair = fair
        self._by_profile = by_profile
        self.stages = [StageState(deque(range(len(one.tasks))), len(one.tasks)) for one in work.stages]
        self._open: dict[int, list[int]] = {}
        """Group -> its stages with waiting tasks, sorted by job and stage."""
        self._is_open: set[int] = set()
        self._in_pool: Counter[str] = Counter()
        """Pool -> the number of running tasks of its jobs."""
        self.waiting: Counter[int] = Counter()
        """Resource profile -> the number of waiting tasks of its stages."""
        self.running: Counter[int] = Counter()

    def begin(self, place: int, now: float) -> None:
        """Begin a stage: its tasks now wait."""
        self.stages[place].began = now
        self.waiting[self._profile(place)] += len(self.stages[place].waiting)

    def open(self, place: int) -> None:
        """Allow the tasks of a stage to be assigned."""
        if place not in self._is_open:
            self._is_open.add(place)
            stages = self._work.stages
            own = self._open.setdefault(self.group(stages[place].profile), [])
            bisect.insort(own, place, key=lambda one: (stages[one].job, stages[one].id))

    def put_back(self, place: int, task: int) -> None:
        """Put a task back, because it has to run again."""
        self.stages[place].waiting.append(task)
        self.waiting[self._profile(place)] += 1
        self.open(place)

    def group(self, profile: int) -> int:
        """The group of stages and executors to which a resource profile belongs."""
        return profile if self._by_profile else 0

    def open_groups(self) -> list[int]:
        """The groups with open stages, in the order of their profiles."""
        return sorted(self._open)

    def order(self, group: int) -> list[int]:
        """A group's open stages in the order of one round of offers (FIFO and FairSchedulingAlgorithm)."""
        own = self._open[group]
        if not self._fair:
            self._look(len(own) // _COPIED)
            return [*own]
        self._look(len(own))
        pools = {place: self._pool(place) for place in own}
        return sorted(own, key=lambda place: (self._in_pool[pools[place]], pools[place]))

    def next_stage(self, order: list[int]) -> int | None:
        """The first stage with a task that may begin, or None; stages without waiting tasks are removed."""
        looked_at = 0
        while looked_at < len(order):
            place = order[looked_at]
            if not self.stages[place].waiting:
                del order[looked_at]
                self._close(place)
                continue
            before = self._work.stages[place].after
            self._look(len(before))
            if all(self.stages[one].ended is not None for one in before):
                return place
            looked_at += 1
        return None

    def _close(self, place: int) -> None:
        group = self.group(self._profile(place))
        self._open[group].remove(place)
        if not self._open[group]:
            del self._open[group]
        self._is_open.discard(place)

    def take(self, place: int) -> int:
        """Start the next task of a stage. Returns its index."""
        self.waiting[self._profile(place)] -= 1
        self.running[self._profile(place)] += 1
        self._in_pool[self._pool(place)] += 1
        return self.stages[place].waiting.popleft()

    def leave(self, place: int) -> None:
        """Count a task of a stage as no longer running."""
        self.running[self._profile(place)] -= 1
        self._in_pool[self._pool(place)] -= 1

    def _profile(self, place: int) -> int:
        return self._work.stages[place].profile

    def _pool(self, place: int) -> str:
        return self._work.jobs[self._work.stages[place].job].pool or DEFAULT
