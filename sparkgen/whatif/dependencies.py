"""The jobs and stages of a workload that may begin: counts how many others each still waits for."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.whatif.workload import Workload

_ENDED = -1
"""The count of a stage that has ended once: from then on it waits only for tasks that were lost."""


class Dependencies:
    """The jobs and stages of a workload, by their indexes in it."""

    def __init__(self, work: Workload) -> None:
        self._work = work
        self._stage_waits = [len(one.after) for one in work.stages]
        self._job_waits = [len(one.after) for one in work.jobs]
        self._stages_left = [len(one.stages) for one in work.jobs]
        self.active: set[int] = set()
        """The running jobs."""
        self.jobs_left = len(work.jobs)
        self.children = _children([one.after for one in work.stages])
        """Stage -> the stages that read it."""
        self._job_children = _children([one.after for one in work.jobs])

    def first_jobs(self) -> Iterator[int]:
        """The jobs that wait for no other job."""
        return (place for place, waits in enumerate(self._job_waits) if waits == 0)

    def begin_job(self, place: int) -> list[int]:
        """Begin a job. Returns its stages that wait for no other stage."""
        self.active.add(place)
        return [one for one in self._work.jobs[place].stages if self._stage_waits[one] == 0]

    def end_stage(self, place: int) -> list[int]:
        """End a stage. Returns the stages that waited only for it."""
        first_time = self._stage_waits[place] != _ENDED
        self._stage_waits[place] = _ENDED
        self._stages_left[self._work.stages[place].job] -= 1
        return list(_freed(self._stage_waits, self.children[place])) if first_time else []

    def reopen(self, place: int) -> None:
        """Reopen a stage that had ended, because output of it was lost."""
        self._stages_left[self._work.stages[place].job] += 1

    def stages_left(self, job: int) -> int:
        """The number of stages of a job that have not ended."""
        return self._stages_left[job]

    def end_job(self, place: int) -> list[int]:
        """End a job. Returns the jobs that waited only for it."""
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
    """Decrease the count of each child; yields those that no longer wait for anything."""
    for child in children:
        waits[child] -= 1
        if waits[child] == 0:
            yield child
