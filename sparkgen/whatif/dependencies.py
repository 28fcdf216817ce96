"""What of a workload may begin: jobs and stages that wait for others, counted down as those end."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.whatif.workload import Workload

_ENDED = -1
"""What a stage waits for that has ended once: later it waits for nothing but tasks that were lost."""


class Dependencies:
    """The jobs and stages of a workload, by their places in it."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self._stage_waits = [len(one.after) for one in work.stages]
        self._job_waits = [len(one.after) for one in work.jobs]
        self._stages_left = [len(one.stages) for one in work.jobs]
        self.active: set[int] = set()
        """Jobs that run."""
        self.jobs_left = len(work.jobs)
        self.children = _children([one.after for one in work.stages])
        """Stage -> the stages that read it."""
        self._job_children = _children([one.after for one in work.jobs])

    def first_jobs(self) -> Iterator[int]:
        """The jobs that wait for no other one."""
        return (place for place, waits in enumerate(self._job_waits) if waits == 0)

    def begin_job(self, place: int) -> list[int]:
        """A job begins: its stages that wait for no other one."""
        self.active.add(place)
        return [one for one in self._work.jobs[place].stages if self._stage_waits[one] == 0]

    def end_stage(self, place: int) -> list[int]:
        """A stage has ended: the stages that waited for it alone."""
        first_time = self._stage_waits[place] != _ENDED
        self._stage_waits[place] = _ENDED
        self._stages_left[self._work.stages[place].job] -= 1
        return list(_freed(self._stage_waits, self.children[place])) if first_time else []

    def reopen(self, place: int) -> None:
        """Output of a stage is lost that had ended."""
        self._stages_left[self._work.stages[place].job] += 1

    def stages_left(self, job: int) -> int:
        """How many stages of a job have not ended."""
        return self._stages_left[job]

    def end_job(self, place: int) -> list[int]:
        """A job has ended: the jobs that waited for it alone."""
        self.active.discard(place)
        self.jobs_left -= 1
        return list(_freed(self._job_waits, self._job_children[place]))


def _children(after: list[tuple[int, ...]]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in after]
    for place, before in enumerate(after):
        for one in before:
            found[one].append(place)
    return found


def _freed(waits: list[int], children: list[int]) -> Iterator[int]:
    """Those that wait for nothing more, once they wait for one less."""
    for child in children:
        waits[child] -= 1
        if waits[child] == 0:
            yield child
