"""Remarks about what a replay does not know of a recording, or does differently. Pure.

Each has a code, a sentence, and how to avoid the doubt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from sparkgen.eventlog import Recording
from sparkgen.grammar.whole import whole
from sparkgen.model.properties import is_true
from sparkgen.phrases import number_of
from sparkgen.whatif.candidates import counted
from sparkgen.whatif.cluster import Cluster
from sparkgen.whatif.configuration import DYNAMIC, Configuration
from sparkgen.whatif.losses import Losses, without_reruns
from sparkgen.whatif.measured_work import missing_ends
from sparkgen.whatif.parallelism import follows
from sparkgen.whatif.remark import Remark, RemarkCode

LARGE = 0.1
"""The relative error of a replay above which its report explains why."""
MOST_NAMED = 5
CAUSES: Mapping[RemarkCode, str] = {
    RemarkCode.NO_CONFIGURATION: "the log does not show the configuration",
    RemarkCode.EXECUTORS_LOST: "executors were lost",
    RemarkCode.CLOCK: "times in the log are impossible",
    RemarkCode.TASKS_MISSING: "ends of tasks are missing",
    RemarkCode.LOG_BROKEN: "the log is damaged",
    RemarkCode.LOG_UNFINISHED: "the log is incomplete",
    RemarkCode.DELAY_INFERRED: "the log does not show when executors were requested",
    RemarkCode.DELAY_ASSUMED: "the log does not show how long executors take to register",
    RemarkCode.CLUSTER_FULL: "the cluster gave fewer executors than Spark asked for",
    RemarkCode.SPECULATION: "speculation was on",
    RemarkCode.SEVERAL_PROFILES: "there are several resource profiles",
    RemarkCode.FAIR_SCHEDULER: "the weights of pools are not in the log",
    RemarkCode.SHUFFLE_CLEANING: "shuffle output was freed at unknown times",
}
"""Causes of a wrong replay, the most likely first."""


def doubts(recording: Recording, properties: Mapping[str, str], lost: Losses) -> tuple[Remark, ...]:
    """The remarks about what a replay of this recording does not know, or does differently."""
    return (
        *_of_reading(recording),
        *_of_losses(recording, lost),
        *_of_executors(recording, properties),
        *_of_scheduling(recording, properties),
        *_of_parallelism(recording, properties),
    )


def _of_reading(recording: Recording) -> Iterator[Remark]:
    if not recording.finished:
        yield Remark(
            RemarkCode.LOG_UNFINISHED,
            "the log ends before the application does: nothing is known after its last event",
            "copy the log after the application has ended",
        )
    if recording.reading.broken or recording.reading.cut_off:
        yield Remark(
            RemarkCode.LOG_BROKEN,
            f"the log is damaged: {recording.reading.broken} of {recording.reading.lines} lines are "
            f"unreadable, and {recording.reading.cut_off} of {recording.reading.files} files are truncated",
            "copy the log again",
        )
    if not recording.properties:
        yield Remark(
            RemarkCode.NO_CONFIGURATION,
            "the log does not show the configuration: the replay uses Spark's defaults",
            "copy the whole log",
        )
    if recording.reading.impossible:
        yield Remark(
            RemarkCode.CLOCK,
            f"{recording.reading.impossible} times in the log are impossible, for example after the "
            "application's end: the replay moves them into the application's time",
            "use a log that nobody changed, of a driver whose clock was not set meanwhile",
        )
    ends = sum(len(stage.tasks) for stage in recording.stages)
    missing = sum(missing_ends(stage) for stage in without_reruns(recording.stages))
    if missing:
        yield Remark(
            RemarkCode.TASKS_MISSING,
            f"the ends of {missing} of {missing + ends} tasks are missing, as Spark drops events when it has "
            "too many: the replay assumes the median of their stage",
            "for the next run, raise spark.scheduler.listenerbus.eventqueue.eventLog.capacity",
        )


def _of_losses(recording: Recording, lost: Losses) -> Iterator[Remark]:
    if not lost:
        return
    named = sorted(
        (recording.executors[place].id for place in lost.executors), key=lambda id_: (len(id_), id_)
    )
    ids = ", ".join(named[:MOST_NAMED]) + (", ..." if len(named) > MOST_NAMED else "")
    what = [f"{counted(len(named))} ({ids})" if named else ""]
    what += [number_of(lost.attempts, "task attempt")] if lost.attempts else []
    what += [f"the output of {number_of(lost.outputs, 'task')}"] if lost.outputs else []
    again = f", and ran {number_of(lost.stages, 'stage')} again" if lost.stages else ""
    yield Remark(
        RemarkCode.EXECUTORS_LOST,
        f"the recorded run lost {', '.join(filter(None, what)) or 'output'}{again}: the replay loses "
        "nothing, so it may be shorter than the run",
        "to replay losses, add --spot-losses",
    )


def _of_executors(recording: Recording, properties: Mapping[str, str]) -> Iterator[Remark]:
    asked = recording.properties.get("spark.executor.instances")
    given = properties.get("spark.executor.instances")
    if asked not in (None, given):
        fewer = (whole(asked or "") or 0) > (whole(given or "") or 0)
        yield Remark(
            RemarkCode.FEWER_CAME if fewer or whole(asked or "") is None else RemarkCode.MORE_CAME,
            f"the application requested {asked} executors and got {given}: the replay uses {given}",
            "record a run in which all executors that were requested come" if fewer else "",
        )
    profiles = {stage.profile for stage in recording.stages}
    if profiles - {0}:
        yield Remark(
            RemarkCode.SEVERAL_PROFILES,
            f"stages use {number_of(len(profiles - {0}), 'resource profile')} beside the default one: their "
            "executors keep the size in the log, and spec.executor changes only those of the default profile",
        )


def _of_scheduling(recording: Recording, properties: Mapping[str, str]) -> Iterator[Remark]:
    if is_true(properties, "spark.speculation"):
        yield Remark(
            RemarkCode.SPECULATION,
            "speculation was on: the replay starts no second attempt of a slow task",
            "record a run without spark.speculation",
        )
    if properties.get("spark.scheduler.mode", "").upper() == "FAIR" and any(j.pool for j in recording.jobs):
        yield Remark(
            RemarkCode.FAIR_SCHEDULER,
            "the log does not have the weights of the FAIR scheduler's pools: in the replay, all weigh the "
            "same and have no minimum share",
        )
    if is_true(properties, f"{DYNAMIC}enabled"):
        yield Remark(
            RemarkCode.SHUFFLE_CLEANING,
            "a log does not show when Spark's garbage collection frees shuffle output: the replay keeps it",
        )


def _of_parallelism(recording: Recording, properties: Mapping[str, str]) -> Iterator[Remark]:
    stages = follows(recording, properties)
    if not stages:
        return
    first = min(stages)
    size = next(stage.size for stage in recording.stages if stage.id == first)
    others = f" and {number_of(len(stages) - 1, 'other')}" if len(stages) > 1 else ""
    yield Remark(
        RemarkCode.TASKS_FOLLOW_CORES,
        f"stage {first}{others} had exactly as many tasks ({size}) as there were cores: if Spark chose "
        "this number by the cores, more executors would get more tasks, and the limit would be higher",
        "set spark.default.parallelism, or the number of partitions in the program, and record it again",
    )


def of_capacity(most: int, replayed: int | None, *, dynamic: bool) -> Iterator[Remark]:
    """A remark if a replay with dynamic allocation had more executors than the recorded run."""
    if not dynamic or replayed is None or replayed <= most:
        return
    yield Remark(
        RemarkCode.CLUSTER_FULL,
        f"by Spark's rules, the application asks for up to {counted(replayed)} at one time, and it had "
        f"at most {most}: the cluster may have had no room for more",
        f"to replay a cluster of this size, add --capacity {most}",
    )


def of_room(settings: Configuration, cluster: Cluster) -> Iterator[Remark]:
    """A remark if the first job waits for executors for which the cluster has no room."""
    needed = math.ceil(settings.registered_ratio * settings.initial)
    if cluster.capacity is None or needed <= cluster.capacity:
        return
    yield Remark(
        RemarkCode.WAITS_FOR_EXECUTORS,
        f"the cluster has room for {cluster.capacity} of {counted(settings.initial)}: Spark starts the "
        f"first job only after {settings.longest_wait:g} s, because it waits for {needed} to register",
        "request no more executors than there is room for",
    )


def of_error(wall: float | None, executors: float | None, known: Sequence[Remark]) -> Iterator[Remark]:
    """A remark about why the replay of the recorded configuration is far from the truth, if it is."""
    worst = max((error for error in (wall, executors) if error is not None), key=abs, default=0.0)
    if abs(worst) <= LARGE:
        return
    codes = {remark.code for remark in known}
    causes = [words for code, words in CAUSES.items() if code in codes]
    why = f"because {', and '.join(causes[:2])}" if causes else "for a reason that the log does not show"
    yield Remark(
        RemarkCode.LARGE_ERROR,
        f"the replay of the recorded configuration is {abs(worst):.0%} off, probably {why}: "
        "trust the order of the predictions more than their size",
        "compare with a log of another run",
    )
