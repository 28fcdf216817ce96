"""Derives the work in a recording: what waited for what, and how long each part took (workload.py)."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sparkgen.eventlog import Job, Recording, Stage
from sparkgen.eventlog.recording import FAILED, SUCCEEDED
from sparkgen.whatif.batches import Batch, batches, phase_unknown
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.delays import delays
from sparkgen.whatif.losses import without_reruns
from sparkgen.whatif.requests import Asked
from sparkgen.whatif.slots import Slots, slots_of
from sparkgen.whatif.workload import JobWork, StageWork, Workload

MOST_ATTEMPTS = 20
"""The most attempts of a stage for which another stage waits."""
MOST_BEFORE = 100
"""The most jobs for which another job waits."""
_SHORTEST = 0.001


def workload(whole: Recording, settings: Configuration, ready: float, asked: Asked) -> Workload:
    """The work in a recording, as it would be without losses.

    `ready`: when its driver was ready for a first job, in seconds; `asked`: when executors were requested.
    """
    recording = replace(whole, stages=without_reruns(whole.stages))
    cold = _cold_tasks(recording, settings)
    warm_up = _warm_up(recording, cold)
    owned = _owned(recording)
    index = _Index.of(recording, owned)
    slots = Slots.of(whole, settings)
    stages = tuple(
        _stage_work(
            place, index, _attempts(stage, cold, warm_up, slots.total(stage.submitted)), slots.launch(stage)
        )
        for place, (stage, _) in enumerate(owned)
    )
    ends = [_end_of(job, index) for job in recording.jobs]
    begun = batches(recording.jobs, ends)
    jobs = tuple(
        _job_work(place, before, recording.jobs, ends, index, ready, begun.get(place))
        for place, before in enumerate(_predecessors(recording.jobs, ends))
    )
    executors = delays(recording, asked)
    return Workload(
        jobs=jobs,
        stages=stages,
        tail=max(0.0, recording.ended - max(ends, default=ready)),
        first_delays=executors.first,
        start_delays=executors.later,
        usual_delay=executors.usual,
        warm_up=warm_up,
        assumed=(*executors.assumed, *phase_unknown(begun)),
        context=min(recording.driver_up, ready),
    )


def _owned(recording: Recording) -> list[tuple[Stage, Job]]:
    """Each stage attempt with the job for which it ran: the last started job that has this stage."""
    naming: dict[int, list[Job]] = {}
    for job in recording.jobs:
        for id_ in job.stages:
            naming.setdefault(id_, []).append(job)
    found = []
    for stage in recording.stages:
        jobs = naming.get(stage.id, [])
        begun = bisect.bisect_right(jobs, stage.submitted + _SHORTEST, key=lambda job: job.submitted)
        if jobs:
            found.append((stage, jobs[max(0, begun - 1)]))
    return found


@dataclass(frozen=True, slots=True)
class _Index:
    """Lookups of stage attempts, by their indexes in `owned`."""

    owned: Sequence[tuple[Stage, Job]]
    by_id: Mapping[int, Sequence[int]]
    """Stage -> the indexes of its attempts."""
    by_job: Mapping[int, Sequence[int]]
    """Job -> the indexes of the stage attempts that ran for it."""
    read: frozenset[tuple[int, int]]
    """Pairs of job and stage for which another stage of the job reads the stage's output."""
    job_places: Mapping[int, int]

    def attempts(self, id_: int, before: int) -> Sequence[int]:
        """The indexes of a stage's last attempts before an index: Spark makes only a few attempts."""
        places = self.by_id.get(id_, ())
        end = bisect.bisect_left(places, before)
        return places[max(0, end - MOST_ATTEMPTS) : end]

    @classmethod
    def of(cls, recording: Recording, owned: Sequence[tuple[Stage, Job]]) -> _Index:
        by_id: dict[int, list[int]] = {}
        by_job: dict[int, list[int]] = {}
        read = set()
        for place, (stage, job) in enumerate(owned):
            by_id.setdefault(stage.id, []).append(place)
            by_job.setdefault(job.id, []).append(place)
            read |= {(job.id, parent) for parent in stage.parents}
        places = {job.id: place for place, job in enumerate(recording.jobs)}
        return cls(owned, by_id, by_job, frozenset(read), places)


def _stage_end(stage: Stage) -> float:
    if stage.completed is not None:
        return stage.completed
    return max(stage.tasks.finished, default=stage.submitted)


def _stage_work(place: int, index: _Index, tasks: tuple[tuple[float, ...], ...], launch: float) -> StageWork:
    stage, job = index.owned[place]
    after = [
        other
        for id_ in dict.fromkeys((stage.id, *stage.parents))
        for other in index.attempts(id_, place)
        if index.owned[other][1] is job and _stage_end(index.owned[other][0]) <= stage.submitted + _SHORTEST
    ]
    began = max([job.submitted, *(_stage_end(index.owned[other][0]) for other in after)])
    return StageWork(
        id=stage.id,
        attempt=stage.attempt,
        name=stage.name,
        job=index.job_places[job.id],
        after=tuple(after),
        gap=max(0.0, stage.submitted - began),
        launch=launch,
        tasks=tasks,
        shuffle=any(stage.tasks.written) or (job.id, stage.id) in index.read,
        cached=bool(stage.caches),
        cpu=_part(sum(stage.tasks.cpu), stage),
        gc=_part(sum(stage.tasks.gc), stage),
        profile=stage.profile,
    )


def _part(seconds: float, stage: Stage) -> float:
    """The seconds as a part of the time of the stage's tasks, from 0 to 1."""
    whole = sum(stage.tasks.seconds(row) for row in range(len(stage.tasks)))
    return min(1.0, max(0.0, seconds / whole)) if whole > 0 else 0.0


def _attempts(
    stage: Stage, cold: set[tuple[int, int, int]], warm_up: float, together: int
) -> tuple[tuple[float, ...], ...]:
    """Seconds of each task's attempts on warm executors, with the tasks in the order of their launch.

    `together`: the number of tasks that could run at one time.
    """
    rows = sorted(
        range(len(stage.tasks)), key=lambda row: (stage.tasks.launched[row], stage.tasks.index[row])
    )
    found: dict[int, list[tuple[int, float]]] = {}
    warm = _warm_median(stage, cold) if rows else 0.0
    for row in rows:
        seconds = max(_SHORTEST, stage.tasks.seconds(row))
        if (stage.id, stage.attempt, row) in cold:
            seconds = max(seconds - warm_up, min(seconds, warm))
        found.setdefault(stage.tasks.index[row], []).append((stage.tasks.outcome[row], seconds))
    known = tuple(_to_success(attempts) for attempts in found.values())
    missing = stage.size - len(known) if is_complete(stage) else 0
    return (*known, *((_usual(stage, known, together),),) * missing)


def _usual(stage: Stage, known: Sequence[tuple[float, ...]], together: int) -> float:
    """Seconds of a task whose end is not in the log: the median, or the stage's time per wave of tasks."""
    if known:
        return statistics.median(attempts[-1] for attempts in known)
    waves = math.ceil(stage.size / max(1, together))
    return max(_SHORTEST, (_stage_end(stage) - stage.submitted) / max(1, waves))


def is_complete(stage: Stage) -> bool:
    """Whether every task of a stage succeeded, even if the log lacks ends of tasks."""
    return stage.completed is not None and not stage.failure


def missing_ends(stage: Stage) -> int:
    """The number of tasks of a completed stage whose end is not in the log."""
    if not is_complete(stage):
        return 0
    done = {
        i for i, outcome in zip(stage.tasks.index, stage.tasks.outcome, strict=True) if outcome == SUCCEEDED
    }
    return max(0, stage.size - len(done))


def _warm_median(stage: Stage, cold: set[tuple[int, int, int]]) -> float:
    """The median of the stage's warm tasks, or the shortest possible time if there is none."""
    tasks = stage.tasks
    warm = [
        tasks.seconds(row)
        for row in range(len(tasks))
        if tasks.outcome[row] == SUCCEEDED and (stage.id, stage.attempt, row) not in cold
    ]
    return statistics.median(warm) if warm else _SHORTEST


def _to_success(attempts: list[tuple[int, float]]) -> tuple[float, ...]:
    failed = [seconds for outcome, seconds in attempts if outcome == FAILED]
    won = [seconds for outcome, seconds in attempts if outcome == SUCCEEDED]
    last = won[0] if won else max(seconds for _, seconds in attempts)
    return (*(failed if won else failed[:-1]), last)


def _cold_tasks(recording: Recording, settings: Configuration) -> set[tuple[int, int, int]]:
    """The first task of each slot of each executor: stage, attempt, row."""
    left = {place: slots_of(executor, settings) for place, executor in enumerate(recording.executors)}
    in_order = sorted(
        (stage.tasks.launched[row], stage.id, stage.attempt, row, stage.tasks.executor[row])
        for stage in recording.stages
        for row in range(len(stage.tasks))
    )
    cold = set()
    for _, id_, attempt, row, executor in in_order:
        if left.get(executor, 0) > 0:
            left[executor] -= 1
            cold.add((id_, attempt, row))
    return cold


def _warm_up(recording: Recording, cold: set[tuple[int, int, int]]) -> float:
    """The median of the additional time of first tasks, compared with the median of their stage's others."""
    longer = []
    for stage in recording.stages:
        rows = [row for row in range(len(stage.tasks)) if (stage.id, stage.attempt, row) in cold]
        usual = _warm_median(stage, cold) if rows else 0.0
        if usual > _SHORTEST and len(stage.tasks) >= 2 * len(rows):
            longer += [stage.tasks.seconds(row) - usual for row in rows]
    return max(0.0, statistics.median(longer)) if longer else 0.0


def _end_of(job: Job, index: _Index) -> float:
    if job.completed is not None:
        return job.completed
    return max([job.submitted, *(_stage_end(index.owned[one][0]) for one in index.by_job.get(job.id, ()))])


def _predecessors(jobs: Sequence[Job], ends: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """Yields for each job, in their order, the indexes of the jobs that it waited for: all that had ended.

    Jobs that had ended before one of these began are left out, because that one already waited for them. At
    most MOST_BEFORE jobs are taken, those that ended last.
    """
    in_order = sorted(range(len(jobs)), key=lambda place: ends[place])
    times = [ends[place] for place in in_order]
    ended, latest = 0, 0.0
    for own, job in enumerate(jobs):  # in the order of their start
        while ended < len(times) and times[ended] <= job.submitted + _SHORTEST:
            latest = max(latest, jobs[in_order[ended]].submitted)
            ended += 1
        first = max(bisect.bisect_right(times, latest, hi=ended), ended - MOST_BEFORE)
        yield tuple(sorted(place for place in in_order[first:ended] if place < own))


def _job_work(
    place: int,
    after: tuple[int, ...],
    jobs: Sequence[Job],
    ends: Sequence[float],
    index: _Index,
    ready: float,
    batch: Batch | None,
) -> JobWork:
    job = jobs[place]
    began = max((ends[one] for one in after), default=ready)
    own = tuple(index.by_job.get(job.id, ()))
    last = max((_stage_end(index.owned[one][0]) for one in own), default=job.submitted)
    return JobWork(
        id=job.id,
        after=after,
        gap=max(0.0, job.submitted - began) if batch is None else batch.gap,
        not_before=max(0.0, job.submitted - ready) if batch is not None and batch.clock is None else 0.0,
        batch=batch,
        stages=own,
        tail=max(0.0, ends[place] - max(last, job.submitted)),
        execution=job.execution,
        pool=job.pool,
    )
