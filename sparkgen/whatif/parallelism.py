"""Stages whose number of tasks Spark may have chosen by the cores that there were.

Without `spark.default.parallelism`, `parallelize` and `range` make as many partitions as the executors that
registered have cores, and at least two (CoarseGrainedSchedulerBackend.defaultParallelism). Small reads and
adaptive execution look at the same number. A log does not show who chose it: a stage with exactly as many
tasks may follow the cores, or happen to have as many.
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
"""Tasks of a stage at least, by Spark's rule."""
MATTERS = 0.1
"""Part of all tasks' time from which on such stages are worth a word."""


def follows(recording: Recording, properties: Mapping[str, str]) -> frozenset[int]:
    """The ids of the stages that have exactly as many tasks as there were cores; none where they are few."""
    if properties.get(PARALLELISM):
        return frozenset()
    changes = [(one.added, one.cores) for one in recording.executors]
    changes += [(end_of(recording, one), -one.cores) for one in recording.executors]
    changes.sort()
    found, seconds, there, place = set(), 0.0, 0, 0
    for stage in recording.stages:  # in the order of their begin
        while place < len(changes) and changes[place][0] <= stage.submitted:
            there += changes[place][1]
            place += 1
        if stage.size == max(LEAST, there) and len(stage.tasks):
            found.add(stage.id)
            seconds += sum(stage.tasks.finished) - sum(stage.tasks.launched)
    return frozenset(found) if found and seconds >= MATTERS * recording.task_seconds else frozenset()


def split_anew(work: Workload, stages: frozenset[int], settings: Configuration) -> Workload | None:
    """The work if these stages have as many tasks as a fixed number of executors has cores.

    None where that is what they have, and with dynamic allocation, where it depends on the moment.
    """
    count = max(LEAST, settings.instances * settings.cores)
    if not stages or settings.dynamic is not None:
        return None
    made = tuple(_split(one, count) if one.id in stages and one.profile == 0 else one for one in work.stages)
    return None if made == work.stages else replace(work, stages=made)


def _split(stage: StageWork, count: int) -> StageWork:
    """The same work in so many tasks, as uneven as the recorded ones; as it is where there are as many."""
    had = len(stage.tasks)
    if count == had:
        return stage
    like = (stage.tasks[number * had // count][-1] for number in range(count))
    return replace(stage, tasks=tuple((seconds * had / count,) for seconds in like))
