"""Findings in a recording that do not depend on the question: limits, skew, spill, memory, idle time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sparkgen.eventlog import Executor, Recording, Stage
from sparkgen.eventlog.recording import SUCCEEDED
from sparkgen.whatif.candidates import counted
from sparkgen.whatif.configuration import Configuration, DynamicAllocation
from sparkgen.whatif.outcome import Outcome
from sparkgen.whatif.remark import Remark, RemarkCode

HELPS = 0.01
"""More executors help if they shorten an application by at least this part."""
MOST_TRIED = 4096
EXACT_TO = 20
"""A limit of up to this many executors is exact."""
HELD = 0.1
"""The part of all executor-seconds above which executors kept for shuffle output are reported."""


@dataclass(frozen=True, slots=True)
class Skew:
    """A stage whose longest task takes much longer than its median one."""

    stage: int
    name: str
    median: float
    longest: float
    tasks: int


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a recording. Times in seconds, memory in MiB."""

    driver_only: float
    """Seconds in which no task ran."""
    critical_path: float
    limit: int | None
    """The number of executors above which more do not help; None if no replay ends."""
    skewed: tuple[Skew, ...]
    """The worst first, by how much longer the longest task takes than the median."""
    spilled: int
    """Bytes spilled to disk."""
    gc: float
    """The part of the tasks' time for garbage collection, from 0 to 1."""
    heap_asked: int
    heap_used: int
    """The peak of any executor; 0 if not measured."""
    failed_seconds: float
    """Seconds of attempts that did not succeed."""
    held: float
    """The sum of seconds after the idle time-out for which shuffle tracking keeps executors."""


def facts(recording: Recording, settings: Configuration, critical_path: float, limit: int | None) -> Facts:
    """The facts about the recording."""
    rows = [(stage.tasks, row) for stage in recording.stages for row in range(len(stage.tasks))]
    run = sum(tasks.run[row] for tasks, row in rows)
    return Facts(
        driver_only=_without_tasks(recording),
        critical_path=critical_path,
        limit=limit,
        skewed=tuple(sorted(_skewed(recording.stages), key=lambda one: one.median - one.longest)[:5]),
        spilled=sum(tasks.spilled[row] for tasks, row in rows),
        gc=min(1.0, sum(tasks.gc[row] for tasks, row in rows) / run) if run > 0 else 0.0,
        heap_asked=settings.memory,
        heap_used=max((one.peak.heap for one in recording.executors), default=0) >> 20,
        failed_seconds=sum(tasks.seconds(row) for tasks, row in rows if tasks.outcome[row] != SUCCEEDED),
        held=_held(recording, settings),
    )


def _without_tasks(recording: Recording) -> float:
    """Seconds of the application in which no task ran."""
    spans = sorted(
        (stage.tasks.launched[row], stage.tasks.finished[row])
        for stage in recording.stages
        for row in range(len(stage.tasks))
    )
    busy, until = 0.0, 0.0
    for begin, end in spans:
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    return max(0.0, recording.wall - busy)


def _held(recording: Recording, settings: Configuration) -> float:
    """The executor-seconds for shuffle tracking alone, without executors that stay for cached blocks."""
    if settings.dynamic is None or not settings.dynamic.tracking:
        return 0.0
    rows: dict[int, list[tuple[float, float, bool, bool]]] = {}
    for stage in recording.stages:
        for row, place in enumerate(stage.tasks.executor):
            written = stage.tasks.written[row] > 0
            times = (stage.tasks.launched[row], stage.tasks.finished[row])
            rows.setdefault(place, []).append((*times, written, bool(stage.caches)))
    return sum(
        _idle_with_output(sorted(tasks), recording.executors[place], recording.ended, settings.dynamic)
        for place, tasks in rows.items()
    )


def _idle_with_output(
    tasks: list[tuple[float, float, bool, bool]], executor: Executor, end: float, dynamic: DynamicAllocation
) -> float:
    """Seconds after the idle time-out, between the tasks in their order and until the executor's end."""
    held, until, keeps = 0.0, executor.added, False
    gone = end if executor.removed is None else executor.removed
    for begin, finish, written, cached in [*tasks, (gone, gone, False, False)]:
        held += max(0.0, begin - until - dynamic.idle_timeout) if keeps else 0.0
        if cached:
            return held
        until, keeps = max(until, finish), keeps or written
    return held


def _skewed(stages: tuple[Stage, ...]) -> list[Skew]:
    found = []
    for stage in stages:
        tasks = stage.tasks
        seconds = [tasks.seconds(row) for row in range(len(tasks)) if tasks.outcome[row] == SUCCEEDED]
        if len(seconds) < 3:
            continue
        median, longest = statistics.median(seconds), max(seconds)
        if longest > 2 * median and longest - median > 1.0:
            found.append(Skew(stage.id, stage.name, median, longest, len(seconds)))
    return found


def limit(wall: Callable[[int], float], most: int) -> int | None:
    """The fewest executors that are as fast as any number, up to 1 %; None if no replay ends.

    `wall`: the seconds with a number of executors; `most`: more are never needed. Each step is a replay,
    which takes seconds with a large log, so a result above `EXACT_TO` may be a twentieth too large.
    """
    tried: dict[int, float] = {}
    count = 1
    while True:
        tried[count] = wall(count)
        if count >= most or count >= MOST_TRIED:
            break
        count = min(count * 4, most)
    fastest = min(tried.values())
    if fastest == math.inf:
        return None
    good = min(count for count, seconds in tried.items() if seconds <= fastest * (1 + HELPS))
    low = max((count for count in tried if count < good), default=0)
    while good - low > max(1, good // EXACT_TO):
        middle = (low + good) // 2
        if wall(middle) <= fastest * (1 + HELPS):
            good = middle
        else:
            low = middle
    return good


def advice(found: Facts, recorded: Outcome, settings: Configuration) -> Iterator[Remark]:
    """Remarks about what to improve, with evidence and what to do."""
    if found.heap_used and found.heap_asked > 2 * found.heap_used:
        yield Remark(
            RemarkCode.MEMORY_UNUSED,
            f"executors request {found.heap_asked} MiB of heap but never used more than "
            f"{found.heap_used} MiB: reduce spec.executor.memory",
        )
    most = settings.instances if settings.dynamic is None else settings.dynamic.maximum
    if most is not None and found.limit is not None and most > found.limit:
        field = (
            "spec.executor.instances" if settings.dynamic is None else "spec.dynamicAllocation.maxExecutors"
        )
        yield Remark(
            RemarkCode.EXECUTORS_BEYOND_LIMIT,
            f"{field} is {most}, but {counted(found.limit)} would be as fast: set it to {found.limit}",
        )
    if found.held > HELD * recorded.executor_seconds:
        yield Remark(
            RemarkCode.IDLE_HELD_BY_SHUFFLE,
            f"idle executors were kept for {found.held:.0f} executor-seconds past their timeout because they "
            "held shuffle output: use a shuffle service, or set "
            "spec.dynamicAllocation.shuffleTrackingTimeout",
        )
    if found.spilled:
        yield Remark(
            RemarkCode.SPILLED,
            f"tasks spilled {found.spilled / (1 << 20):.0f} MiB to disk: more memory per task may help",
        )
    if found.gc > 0.1:
        yield Remark(
            RemarkCode.GARBAGE_COLLECTION,
            f"garbage collection took {found.gc:.0%} of task time: more memory per core may help",
        )
    if found.driver_only > 0.3 * recorded.wall:
        yield Remark(
            RemarkCode.NO_TASK_RAN,
            f"no task ran for {found.driver_only:.0f} of {recorded.wall:.0f} s, because the driver "
            "was busy or executors were starting: more executors do not shorten this time",
        )
