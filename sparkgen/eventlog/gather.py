"""Events to a recording, one at a time: what is kept of a task is its row in the stage's columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from sparkgen.eventlog import events
from sparkgen.eventlog.recording import (
    FAILED,
    KILLED,
    SUCCEEDED,
    Executor,
    Job,
    MemoryPeak,
    Reading,
    Recording,
    Stage,
    Tasks,
)

KEPT = (
    "spark.app.",
    "spark.default.",
    "spark.driver.",
    "spark.dynamicAllocation.",
    "spark.executor.",
    "spark.kubernetes.allocation.",
    "spark.locality.",
    "spark.master",
    "spark.memory.",
    "spark.scheduler.",
    "spark.shuffle.service.",
    "spark.speculation",
    "spark.sql.adaptive.",
    "spark.sql.shuffle.",
    "spark.task.",
)
"""What the names of the properties begin with that are kept: none of them is a secret's."""
DRIVER = "driver"
LONGEST_NAME = 200


@dataclass(slots=True)
class Gathered:
    """What was gathered so far. Times are milliseconds since 1970, as the log has them."""

    version: str = ""
    start: events.ApplicationStart | None = None
    end: int | None = None
    last: int = 0
    properties: dict[str, str] = field(default_factory=dict)
    executors: dict[str, events.ExecutorAdded] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Executor -> its place among those that tasks name."""
    removed: dict[str, events.ExecutorRemoved] = field(default_factory=dict)
    peaks: dict[str, MemoryPeak] = field(default_factory=dict)
    stages: dict[tuple[int, int], events.StageInfo] = field(default_factory=dict)
    tasks: dict[tuple[int, int], Tasks] = field(default_factory=dict)
    jobs: dict[int, events.JobStart] = field(default_factory=dict)
    """With times: where the log has none, that of the last event before."""
    job_ends: dict[int, events.JobEnd] = field(default_factory=dict)

    def take(self, name: bytes, event: Any) -> None:
        """Take in one event."""
        _TAKE[name](self, event)


def _version(so_far: Gathered, event: events.LogStart) -> None:
    so_far.version = event.version


def _start(so_far: Gathered, event: events.ApplicationStart) -> None:
    if so_far.start is None:
        so_far.start = event
    so_far.last = max(so_far.last, event.time)


def _end(so_far: Gathered, event: events.ApplicationEnd) -> None:
    so_far.end = event.time


def _environment(so_far: Gathered, event: events.Environment) -> None:
    so_far.properties.update(
        (name, value) for name, value in event.properties.items() if name.startswith(KEPT)
    )


def _added(so_far: Gathered, event: events.ExecutorAdded) -> None:
    so_far.executors[event.id] = event
    so_far.last = max(so_far.last, event.time)


def _removed(so_far: Gathered, event: events.ExecutorRemoved) -> None:
    so_far.removed.setdefault(event.id, event)
    so_far.last = max(so_far.last, event.time)


def _stage(so_far: Gathered, event: events.StageEvent) -> None:
    info = event.info
    so_far.stages[(info.id, info.attempt)] = info
    so_far.last = max(so_far.last, info.submitted or 0, info.completed or 0)


def _job(so_far: Gathered, event: events.JobStart) -> None:
    event.time = so_far.last if event.time is None else event.time
    so_far.jobs[event.id] = event
    so_far.last = max(so_far.last, event.time)


def _job_end(so_far: Gathered, event: events.JobEnd) -> None:
    event.time = so_far.last if event.time is None else event.time
    so_far.job_ends[event.id] = event
    so_far.last = max(so_far.last, event.time)


def _task(so_far: Gathered, event: events.TaskEnd) -> None:
    info, metrics = event.info, event.metrics or events.TaskMetrics()
    so_far.last = max(so_far.last, info.finished)
    tasks = so_far.tasks.setdefault((event.stage, event.stage_attempt), Tasks())
    tasks.index.append(info.index)
    tasks.launched.append(info.launched)
    tasks.finished.append(info.finished)
    tasks.executor.append(so_far.places.setdefault(info.executor, len(so_far.places)))
    tasks.outcome.append(_outcome(event))
    tasks.speculative.append(info.speculative)
    tasks.run.append((metrics.run + metrics.deserialize) / 1e3)
    tasks.cpu.append((metrics.cpu + metrics.deserialize_cpu) / 1e9)
    tasks.gc.append(metrics.gc_time / 1e3)
    tasks.spilled.append(metrics.spilled)
    shuffled = metrics.shuffle_read or events.ShuffleRead()
    tasks.read.append((metrics.input.read if metrics.input else 0) + shuffled.remote + shuffled.local)
    tasks.written.append(metrics.shuffle_write.written if metrics.shuffle_write else 0)
    tasks.peak.append(metrics.peak)
    if event.peaks is not None:
        _note_peak(so_far, info.executor, event.peaks)


def _outcome(event: events.TaskEnd) -> int:
    if event.reason.reason == "Success":
        return SUCCEEDED
    return KILLED if event.info.killed or event.reason.reason == "TaskKilled" else FAILED


def _metrics(so_far: Gathered, event: events.StageExecutorMetrics) -> None:
    _note_peak(so_far, event.id, event.peaks)


def _note_peak(so_far: Gathered, executor: str, peaks: events.MemoryPeaks) -> None:
    old = so_far.peaks.get(executor, MemoryPeak())
    so_far.peaks[executor] = MemoryPeak(
        max(old.heap, peaks.heap),
        max(old.off_heap, peaks.off_heap),
        max(old.resident, peaks.jvm_rss + peaks.python_rss),
    )


_BY_KIND: dict[str, Callable[[Gathered, Any], None]] = {
    "LogStart": _version,
    "ApplicationStart": _start,
    "ApplicationEnd": _end,
    "EnvironmentUpdate": _environment,
    "ExecutorAdded": _added,
    "ExecutorRemoved": _removed,
    "StageSubmitted": _stage,
    "StageCompleted": _stage,
    "JobStart": _job,
    "JobEnd": _job_end,
    "TaskEnd": _task,
    "StageExecutorMetrics": _metrics,
}
_TAKE = {f"{events.PREFIX}{kind}".encode(): take for kind, take in _BY_KIND.items()}


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
        spark_version=so_far.version[:LONGEST_NAME],
        began=start.time,
        ended=max(0.0, (ended - start.time) / 1e3),
        finished=so_far.end is not None,
        properties=so_far.properties,
        executors=_executors(so_far, start.time),
        stages=_stages(so_far, start.time),
        jobs=_jobs(so_far, start.time),
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
        name=info.name[:LONGEST_NAME],
        size=info.tasks,
        parents=tuple(info.parents),
        submitted=((info.submitted or zero) - zero) / 1e3,
        completed=None if info.completed is None else (info.completed - zero) / 1e3,
        failure=info.failure or "",
        profile=info.profile,
        caches=frozenset(rdd.id for rdd in info.rdds if rdd.level.disk or rdd.level.memory),
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
            )
        )
    return tuple(sorted(found, key=lambda job: (job.submitted, job.id)))
