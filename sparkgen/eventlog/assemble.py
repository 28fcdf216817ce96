"""Turns the gathered events of a log into a recording, with times since the application's start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkgen.eventlog import events
from sparkgen.eventlog.clock import Clock, clock_of
from sparkgen.eventlog.gather import LONGEST_NAME, Gathered
from sparkgen.eventlog.recording import Executor, Job, MemoryPeak, Reading, Recording, Stage, Tasks


def recording(so_far: Gathered, source: str, reading: Reading) -> Recording:
    """The recording of the gathered events.

    Raises ValueError if `so_far.start` is None, and EventLogError if too many tasks lack an end.
    """
    start = so_far.start
    if start is None:
        raise ValueError("no application")
    so_far.keep_missing(_missing(so_far))
    clock = clock_of(so_far, start.time)
    stages, jobs = _stages(so_far, clock), _jobs(so_far, clock)
    executors = _executors(so_far, stages, clock)
    return Recording(
        source=source,
        name=start.name[:LONGEST_NAME],
        application_id=(start.id or "")[:LONGEST_NAME],
        spark_version=so_far.version,
        began=clock.begin,
        ended=clock.at(clock.end),
        finished=so_far.end is not None,
        properties=so_far.properties,
        executors=executors,
        stages=stages,
        jobs=jobs,
        driver_up=clock.at(clock.begin if so_far.driver_up is None else so_far.driver_up),
        reading=replace(reading, impossible=clock.moved),
        profiles=so_far.profiles,
        lost_output=so_far.lost_output,
    )


def _missing(so_far: Gathered) -> int:
    """The number of tasks without an end in the log, of stages with an attempt that was completed."""
    begun = {key: info for key, info in so_far.stages.items() if info.submitted is not None}
    completed = {info.id for info in begun.values() if info.completed is not None and not info.failure}
    return sum(
        max(0, info.tasks - len(set(so_far.tasks.get(key, Tasks()).index)))
        for key, info in begun.items()
        if info.id in completed
    )


def _executors(so_far: Gathered, stages: Sequence[Stage], clock: Clock) -> tuple[Executor, ...]:
    """The executors: first those of tasks, in the order of their places, then those without tasks."""
    ids = [*so_far.places, *(id_ for id_ in so_far.executors if id_ not in so_far.places)]
    launched: dict[int, float] = {}
    for stage in stages:
        for place, time in zip(stage.tasks.executor, stage.tasks.launched, strict=True):
            launched[place] = min(time, launched.get(place, time))
    return tuple(_executor(so_far, id_, launched.get(place), clock) for place, id_ in enumerate(ids))


def _executor(so_far: Gathered, id_: str, first_launch: float | None, clock: Clock) -> Executor:
    """An executor, added no later than the start of its first task, even if the log has a later time.

    If the log lacks the event of its registration, it counts as added at the start of its first task.
    """
    event, gone = so_far.executors.get(id_), so_far.removed.get(id_)
    times = [] if event is None else [clock.at(event.time)]
    added = min([*times, *([] if first_launch is None else [first_launch])], default=0.0)
    asked = None if event is None else event.info.requested
    return Executor(
        id=id_,
        host="" if event is None else event.info.host,
        cores=1 if event is None else max(1, event.info.cores),
        profile=0 if event is None else event.info.profile,
        added=added,
        requested=None if asked is None else min(added, clock.at(asked)),
        removed=None if gone is None else clock.after(added, clock.at(gone.time)),
        reason="" if gone is None else gone.reason,
        peak=so_far.peaks.get(id_, MemoryPeak()),
    )


def _stages(so_far: Gathered, clock: Clock) -> tuple[Stage, ...]:
    found = [
        _stage_of(info, so_far.tasks.pop(key, Tasks()), clock)
        for key, info in so_far.stages.items()
        if info.submitted is not None
    ]
    return tuple(sorted(found, key=lambda stage: (stage.submitted, stage.id, stage.attempt)))


def _stage_of(info: events.StageInfo, tasks: Tasks, clock: Clock) -> Stage:
    for row, (launched, finished) in enumerate(zip(tasks.launched, tasks.finished, strict=True)):
        tasks.launched[row] = began = clock.at(launched)
        tasks.finished[row] = clock.after(began, clock.at(finished))
    submitted = clock.at(info.submitted or clock.begin)
    return Stage(
        id=info.id,
        attempt=info.attempt,
        name=info.name,
        size=info.tasks,
        parents=tuple(info.parents),
        submitted=submitted,
        completed=None if info.completed is None else clock.after(submitted, clock.at(info.completed)),
        failure=info.failure or "",
        profile=info.profile,
        caches=frozenset(rdd.id for rdd in info.rdds),
        tasks=tasks,
    )


def _jobs(so_far: Gathered, clock: Clock) -> tuple[Job, ...]:
    found = []
    for job in so_far.jobs.values():
        end = so_far.job_ends.get(job.id)
        said = job.properties or events.JobProperties()
        submitted = clock.at(job.time or clock.begin)
        found.append(
            Job(
                id=job.id,
                submitted=submitted,
                completed=None if end is None else clock.after(submitted, clock.at(end.time or clock.begin)),
                succeeded=end is not None and end.result.result == "JobSucceeded",
                stages=tuple(job.stages),
                execution=said.execution or "",
                batch=said.batch or "",
                stream=said.stream or "",
                pool=said.pool or "",
            )
        )
    return tuple(sorted(found, key=lambda job: (job.submitted, job.id)))
