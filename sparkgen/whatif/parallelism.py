"""Finds stages whose number of tasks Spark may have chosen by the number of cores.

Without `spark.default.parallelism`, `parallelize` and `range` make as many partitions as the registered
executors have cores, and at least two (CoarseGrainedSchedulerBackend.defaultParallelism). Small reads and
adaptive execution use the same number. A log does not show how it was chosen: a stage with exactly as many
tasks may depend on the cores, or have as many by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparkgen.eventlog import Recording
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.outcome import end_of
from sparkgen.whatif.workload import StageWork, Workload

PARALLELISM = "spark.default.parallelism"
LEAST = 2
"""The least tasks of a stage, by Spark's rule."""
MATTERS = 0.1
"""The part of all tasks' time from which such stages are reported."""


def follows(recording: Recording, properties: Mapping[str, str]) -> frozenset[int]:
    """The ids of stages with exactly as many tasks as there were cores; empty if they take little time."""
    if properties.get(PARALLELISM):
        return frozenset()
    changes = [(one.added, one.cores) for one in recording.executors]
    changes += [(end_of(recording, one), -one.cores) for one in recording.executors]
    changes.sort()
    found, seconds, there, place = set(), 0.0, 0, 0
    for stage in recording.stages:  # in the order of their start
        while place < len(changes) and changes[place][0] <= stage.submitted:
            there += changes[place][1]
            place += 1
        if stage.size == max(LEAST, there) and len(stage.tasks):
            found.add(stage.id)
            seconds += sum(stage.tasks.finished) - sum(stage.tasks.launched)
    return frozenset(found) if found and seconds >= MATTERS * recording.task_seconds else frozenset()


SPLIT_ALWAYS = 100_000
"""The number of tasks into which any work may be split."""
MORE_TASKS = 20
"""Work is split into at most so many times its tasks: the number of cores may be a false claim of the log."""


def split_anew(work: Workload, stages: frozenset[int], settings: Configuration) -> Workload | None:
    """The work if these stages have as many tasks as a fixed number of executors has cores.

    None if they already have as many, or with dynamic allocation, where the number of cores changes, or if
    there would be too many tasks.
    """
    count = max(LEAST, settings.instances * settings.cores)
    if not stages or settings.dynamic is not None:
        return None
    affected = [one for one in work.stages if one.id in stages and one.profile == 0]
    if len(affected) * count > SPLIT_ALWAYS + MORE_TASKS * sum(len(one.tasks) for one in work.stages):
        return None
    made = tuple(_split(one, count) if one.id in stages and one.profile == 0 else one for one in work.stages)
    return None if made == work.stages else replace(work, stages=made)


def _split(stage: StageWork, count: int) -> StageWork:
    """The stage with its work split into `count` tasks, which are as uneven as the recorded tasks."""
    had = len(stage.tasks)
    if count == had:
        return stage
    like = (stage.tasks[number * had // count][-1] for number in range(count))
    return replace(stage, tasks=tuple((seconds * had / count,) for seconds in like))
