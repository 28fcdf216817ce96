"""Gathers the parts of a recording from events, one at a time; a task becomes a row of its stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sparkgen.eventlog import events
from sparkgen.eventlog.errors import EventLogError
from sparkgen.eventlog.recording import (
    FAILED,
    KILLED,
    LOST,
    SUCCEEDED,
    WITHOUT_INPUT,
    MemoryPeak,
    ResourceProfile,
    Tasks,
)
from sparkgen.properties.older import under_new_names

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
"""The prefixes of the properties that are kept: none of these properties is a secret."""
DRIVER = "driver"
LONGEST_NAME = 200
LARGEST = 1e9
"""The limit of a resource's amount: no executor has more."""
LONGEST_VALUE = 1000
"""The most characters of a property that a replay reads, and of other long texts."""
MOST_KEPT = 5_000_000
"""The most task attempts, jobs, stages, executors and parts: a replay of more takes hours and gigabytes."""
MOST_TEXT = 256 << 20
"""The most bytes of memory for the kept texts."""
MISSING_ALWAYS = 1000
"""The number of tasks whose end may be missing in any log."""
MISSING_PER_TASK = 10
"""The number of tasks whose end may be missing for each kept value: a busy driver drops events."""


@dataclass(slots=True)
class Gathered:
    """The values gathered so far. Times are milliseconds since 1970, as in the log."""

    version: str = ""
    start: events.ApplicationStart | None = None
    end: int | None = None
    last: int = 0
    properties: dict[str, str] = field(default_factory=dict)
    driver_up: int | None = None
    executors: dict[str, events.ExecutorAdded] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """Executor -> its place among the executors of tasks."""
    removed: dict[str, events.ExecutorRemoved] = field(default_factory=dict)
    peaks: dict[str, MemoryPeak] = field(default_factory=dict)
    stages: dict[tuple[int, int], events.StageInfo] = field(default_factory=dict)
    tasks: dict[tuple[int, int], Tasks] = field(default_factory=dict)
    jobs: dict[int, events.JobStart] = field(default_factory=dict)
    """Each with a time: if the log has none, the last time before."""
    job_ends: dict[int, events.JobEnd] = field(default_factory=dict)
    profiles: dict[int, ResourceProfile] = field(default_factory=dict)
    lost_output: int = 0
    first_launch: int = 1 << 60
    last_finish: int = 0
    """The last finish time of all tasks."""
    last_work: int = 0
    """The last time of a job, a stage or a task."""
    kept: int = 0
    """The number of values kept from events."""

    kept_text: int = 0
    """The bytes of memory of the texts kept from events, at most."""

    def take(self, name: bytes, event: Any) -> None:
        """Add one event. Raises EventLogError if there are more values than a replay can handle."""
        _TAKE[name](self, event)

    def work_at(self, time: int) -> None:
        """Update the last times with a time of a job, a stage or a task."""
        self.last_work = max(self.last_work, time)
        self.last = max(self.last, time)

    def keep(self, number: int = 1) -> None:
        """Count kept values. Raises EventLogError above MOST_KEPT."""
        self.kept += number
        if self.kept > MOST_KEPT:
            raise EventLogError(
                f"the log is too large for a replay: over {MOST_KEPT:,} task attempts, jobs, stages, "
                "executors and properties"
            )

    def keep_text(self, *texts: str) -> None:
        """Count kept texts. Raises EventLogError above MOST_TEXT."""
        self.kept_text += sum(map(_text_bytes, texts))
        if self.kept_text > MOST_TEXT:
            raise EventLogError(
                f"the log is too large for a replay: the names, reasons and properties in it take more than "
                f"{MOST_TEXT >> 20} MiB of memory"
            )

    def keep_missing(self, number: int) -> None:
        """Count tasks that the log names only by a stage's number of tasks: a replay makes them up.

        Raises EventLogError if they are far more than what the log has.
        """
        most = MISSING_ALWAYS + MISSING_PER_TASK * self.kept
        if number > most:
            raise EventLogError(
                f"the log lacks the ends of {number:,} tasks of completed stages; a replay of this log can "
                f"make up at most {most:,}. Record the run again with a larger "
                "spark.scheduler.listenerbus.eventqueue.capacity, so that the driver drops no events"
            )
        self.keep(number)


def _text_bytes(text: str) -> int:
    """The most bytes of memory for the characters of a text: one emoji makes all of them four bytes long."""
    return len(text) if text.isascii() else 4 * len(text)


def _version(so_far: Gathered, event: events.LogStart) -> None:
    so_far.version = event.version[:LONGEST_NAME]


def _start(so_far: Gathered, event: events.ApplicationStart) -> None:
    if so_far.start is None:
        so_far.start = event
    so_far.last = max(so_far.last, event.time)


def _end(so_far: Gathered, event: events.ApplicationEnd) -> None:
    so_far.end = event.time


def _environment(so_far: Gathered, event: events.Environment) -> None:
    known = {
        name: value
        for name, value in under_new_names(event.properties).items()
        if name.startswith(KEPT) and len(name) + len(value) <= LONGEST_VALUE
    }
    so_far.keep(len(known))
    so_far.keep_text(*known, *known.values())
    so_far.properties.update(known)


def _block_manager(so_far: Gathered, event: events.BlockManagerAdded) -> None:
    if event.id.executor == DRIVER and so_far.driver_up is None:
        so_far.driver_up = event.time


def _added(so_far: Gathered, event: events.ExecutorAdded) -> None:
    so_far.keep()
    event.id, event.info.host = event.id[:LONGEST_NAME], event.info.host[:LONGEST_NAME]
    so_far.keep_text(event.id, event.info.host)
    so_far.executors[event.id] = event
    so_far.last = max(so_far.last, event.time)


def _removed(so_far: Gathered, event: events.ExecutorRemoved) -> None:
    so_far.keep()
    event.id, event.reason = event.id[:LONGEST_NAME], event.reason[:LONGEST_VALUE]
    if event.id not in so_far.removed:
        so_far.keep_text(event.id, event.reason)
        so_far.removed[event.id] = event
    so_far.last = max(so_far.last, event.time)


def _stage(so_far: Gathered, event: events.StageEvent) -> None:
    info = event.info
    info.name, info.failure = info.name[:LONGEST_NAME], (info.failure or "")[:LONGEST_VALUE]
    info.rdds = [rdd for rdd in info.rdds if rdd.level.disk or rdd.level.memory]
    so_far.keep(1 + len(info.parents) + len(info.rdds))
    key = (info.id, info.attempt)
    if (before := so_far.stages.get(key)) is not None:
        so_far.kept_text -= _text_bytes(before.name) + _text_bytes(before.failure or "")
    so_far.keep_text(info.name, info.failure)
    so_far.stages[key] = info
    so_far.work_at(max(info.submitted or 0, info.completed or 0))


def _job(so_far: Gathered, event: events.JobStart) -> None:
    event.time = so_far.last if event.time is None else event.time
    so_far.keep(1 + len(event.stages))
    if (said := event.properties) is not None:
        said.execution, said.batch = (said.execution or "")[:LONGEST_NAME], (said.batch or "")[:LONGEST_NAME]
        said.stream, said.pool = (said.stream or "")[:LONGEST_NAME], (said.pool or "")[:LONGEST_NAME]
        so_far.keep_text(said.execution, said.batch, said.stream, said.pool)
    so_far.jobs[event.id] = event
    so_far.work_at(event.time)


def _job_end(so_far: Gathered, event: events.JobEnd) -> None:
    event.time = so_far.last if event.time is None else event.time
    so_far.keep()
    event.result.result = event.result.result[:LONGEST_NAME]
    so_far.keep_text(event.result.result)
    so_far.job_ends[event.id] = event
    so_far.work_at(event.time)


def _profile(so_far: Gathered, event: events.ResourceProfileAdded) -> None:
    so_far.keep(1 + len(event.executor) + len(event.task))
    profile = ResourceProfile(_amounts(event.executor), _amounts(event.task))
    so_far.keep_text(*profile.executor, *profile.task)
    so_far.profiles[event.id] = profile


def _amounts(given: dict[str, events.Amount]) -> dict[str, float]:
    return {name[:LONGEST_NAME]: one.amount for name, one in given.items() if 0 <= one.amount < LARGEST}


def _task(so_far: Gathered, event: events.TaskEnd) -> None:
    info, metrics = event.info, event.metrics or events.TaskMetrics()
    so_far.keep()
    info.executor = info.executor[:LONGEST_NAME]
    so_far.work_at(info.finished)
    so_far.last_finish = max(so_far.last_finish, info.finished)
    so_far.first_launch = min(so_far.first_launch, info.launched)
    if event.reason.reason == "Resubmitted":  # a second event for a task that had succeeded
        so_far.lost_output += 1
        return
    tasks = so_far.tasks.setdefault((event.stage, event.stage_attempt), Tasks())
    tasks.index.append(info.index)
    tasks.launched.append(info.launched)
    tasks.finished.append(info.finished)
    if info.executor not in so_far.places:
        so_far.keep_text(info.executor)
    tasks.executor.append(so_far.places.setdefault(info.executor, len(so_far.places)))
    tasks.outcome.append(_outcome(event))
    tasks.speculative.append(info.speculative)
    tasks.run.append(max(0, metrics.run + metrics.deserialize) / 1e3)
    tasks.cpu.append(max(0, metrics.cpu + metrics.deserialize_cpu) / 1e9)
    tasks.gc.append(max(0, metrics.gc_time) / 1e3)
    tasks.spilled.append(max(0, metrics.spilled))
    shuffled = metrics.shuffle_read or events.ShuffleRead()
    tasks.read.append((metrics.input.read if metrics.input else 0) + shuffled.remote + shuffled.local)
    tasks.written.append(metrics.shuffle_write.written if metrics.shuffle_write else 0)
    tasks.peak.append(metrics.peak)
    if event.peaks is not None:
        _note_peak(so_far, info.executor, event.peaks)


_OUTCOMES = {
    "Success": SUCCEEDED,
    "TaskKilled": KILLED,
    "TaskCommitDenied": KILLED,
    "ExecutorLostFailure": LOST,
    "FetchFailed": WITHOUT_INPUT,
}
"""Reason (TaskEndReason) -> the outcome of the attempt; any other reason is a failure, or a kill."""


def _outcome(event: events.TaskEnd) -> int:
    known = _OUTCOMES.get(event.reason.reason)
    if known is not None:
        return known
    return KILLED if event.info.killed else FAILED


def _metrics(so_far: Gathered, event: events.StageExecutorMetrics) -> None:
    so_far.keep()
    _note_peak(so_far, event.id, event.peaks)


def _note_peak(so_far: Gathered, executor: str, peaks: events.MemoryPeaks) -> None:
    executor = executor[:LONGEST_NAME]
    if executor not in so_far.peaks:
        so_far.keep_text(executor)
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
    "BlockManagerAdded": _block_manager,
    "ResourceProfileAdded": _profile,
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
