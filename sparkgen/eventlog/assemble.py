"""What was gathered of an event log, as a recording: times from the application's start on."""

from __future__ import annotations

from dataclasses import replace

from sparkgen.eventlog import events
from sparkgen.eventlog.gather import DRIVER, LONGEST_NAME, Gathered
from sparkgen.eventlog.recording import Executor, Job, MemoryPeak, Reading, Recording, Stage, Tasks


def recording(so_far: Gathered, source: str, reading: Reading) -> Recording:
    """The recording of what was gathered; `so_far.start` has to be there."""
    start = so_far.start
    if start is None:
        raise ValueError("no application")
    ended = so_far.last if so_far.end is None else so_far.end
    return Recording(
        source=source,
        name=start.name[:LONGEST_NAME],
        application_id=(start.id or "")[:LONGEST_NAME],
        spark_version=so_far.version,
        began=start.time,
        ended=max(0.0, (ended - start.time) / 1e3),
        finished=so_far.end is not None,
        properties=so_far.properties,
        executors=_executors(so_far, start.time),
        stages=_stages(so_far, start.time),
        jobs=_jobs(so_far, start.time),
        driver_up=max(0.0, ((so_far.driver_up or start.time) - start.time) / 1e3),
        driver_peak=so_far.peaks.get(DRIVER, MemoryPeak()),
        reading=reading,
    )


def _executors(so_far: Gathered, zero: int) -> tuple[Executor, ...]:
    """Those that tasks name first, in the order of their places; then those that ran none."""
    ids = [*so_far.places, *(id_ for id_ in so_far.executors if id_ not in so_far.places)]
    found = []
    for id_ in ids:
        removed = so_far.removed.get(id_)
        executor = Executor(
            id=id_,
            host="",
            cores=1,
            profile=0,
            added=0.0,
            requested=None,
            removed=None if removed is None else (removed.time - zero) / 1e3,
            reason="" if removed is None else removed.reason,
            peak=so_far.peaks.get(id_, MemoryPeak()),
        )
        event = so_far.executors.get(id_)
        if event is not None:
            asked = event.info.requested
            executor = replace(
                executor,
                host=event.info.host,
                cores=max(1, event.info.cores),
                profile=event.info.profile,
                added=(event.time - zero) / 1e3,
                requested=None if asked is None else (asked - zero) / 1e3,
            )
        found.append(executor)
    return tuple(found)


def _stages(so_far: Gathered, zero: int) -> tuple[Stage, ...]:
    found = [
        _stage_of(info, so_far.tasks.pop(key, Tasks()), zero)
        for key, info in so_far.stages.items()
        if info.submitted is not None
    ]
    return tuple(sorted(found, key=lambda stage: (stage.submitted, stage.id, stage.attempt)))


def _stage_of(info: events.StageInfo, tasks: Tasks, zero: int) -> Stage:
    for column in (tasks.launched, tasks.finished):
        for place, time in enumerate(column):
            column[place] = (time - zero) / 1e3
    return Stage(
        id=info.id,
        attempt=info.attempt,
        name=info.name,
        size=info.tasks,
        parents=tuple(info.parents),
        submitted=((info.submitted or zero) - zero) / 1e3,
        completed=None if info.completed is None else (info.completed - zero) / 1e3,
        failure=info.failure or "",
        profile=info.profile,
        caches=frozenset(rdd.id for rdd in info.rdds),
        tasks=tasks,
    )


def _jobs(so_far: Gathered, zero: int) -> tuple[Job, ...]:
    found = []
    for job in so_far.jobs.values():
        end = so_far.job_ends.get(job.id)
        said = job.properties or events.JobProperties()
        found.append(
            Job(
                id=job.id,
                submitted=((job.time or zero) - zero) / 1e3,
                completed=None if end is None else ((end.time or zero) - zero) / 1e3,
                succeeded=end is not None and end.result.result == "JobSucceeded",
                stages=tuple(job.stages),
                execution=said.execution or "",
                batch=said.batch or "",
                stream=said.stream or "",
                pool=said.pool or "",
            )
        )
    return tuple(sorted(found, key=lambda job: (job.submitted, job.id)))
