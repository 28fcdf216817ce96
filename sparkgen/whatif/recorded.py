"""The configuration that was recorded, and whether a replay can answer for its log at all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from sparkgen.errors import SparkgenError
from sparkgen.eventlog import Recording
from sparkgen.grammar.whole import whole
from sparkgen.model.properties import is_true
from sparkgen.whatif.configuration import DYNAMIC, Configuration, configuration
from sparkgen.whatif.measured_work import workload
from sparkgen.whatif.outcome import recorded
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.workload import Workload


class NotReplayable(SparkgenError):
    """A log that a replay cannot answer for, in words."""


def recorded_properties(recording: Recording) -> dict[str, str]:
    """Spark's properties as the application ran: what the log does not say is taken from its executors."""
    properties = dict(recording.properties)
    cores = Counter(one.cores for one in recording.executors)
    if cores:
        properties.setdefault("spark.executor.cores", str(cores.most_common(1)[0][0]))
    if is_true(properties, f"{DYNAMIC}enabled"):
        if recording.spark_version.startswith(("2.", "3.0.", "3.1.", "3.2.", "3.3.")):  # true since 3.4
            properties.setdefault(f"{DYNAMIC}shuffleTracking.enabled", "false")
        return properties
    there, asked = recorded(recording, 1).most, whole(properties.get("spark.executor.instances", ""))
    if asked is None or asked > there:  # the cluster had no room for more, or the work was done
        properties["spark.executor.instances"] = str(there)
    return properties


def ready_at(recording: Recording, settings: Configuration) -> float:
    """When the driver was ready for its first job.

    Its context was up, and enough executors had registered, or it waited no more.
    """
    enough = math.ceil(settings.registered_ratio * settings.initial)
    added = sorted(one.added for one in recording.executors)
    waited = 0.0 if enough == 0 else added[enough - 1] if enough <= len(added) else math.inf
    first = min((job.submitted for job in recording.jobs), default=recording.ended)
    return min(max(recording.driver_up, min(waited, recording.driver_up + settings.longest_wait)), first)


def work_of(recording: Recording) -> tuple[Configuration, Workload]:
    """The recorded settings, and the work. NotReplayable where there is nothing to replay."""
    if not recording.jobs or not any(len(stage.tasks) for stage in recording.stages):
        raise NotReplayable(
            f"{recording.source}: no task finished in this log, so there is nothing to replay"
        )
    if (
        recording.properties.get("spark.master", "").startswith("local")
        and "local-cluster" not in (recording.properties["spark.master"])
    ):
        raise NotReplayable(
            f"{recording.source}: the application ran in Spark's local mode, without executors. "
            "Record a run with executors, for example with sparkgen run --local"
        )
    settings = configuration(recorded_properties(recording))
    return settings, workload(recording, ready_at(recording, settings))


def doubts(recording: Recording, properties: Mapping[str, str]) -> tuple[Remark, ...]:
    """What of a recording a replay does not follow."""
    found: list[Remark] = []

    def say(code: RemarkCode, text: str) -> None:
        found.append(Remark(code, text))

    if not recording.finished:
        say(
            RemarkCode.LOG_UNFINISHED,
            "the log ends before the application does: nothing is known after its last event",
        )
    if recording.reading.broken or recording.reading.cut_off:
        say(
            RemarkCode.LOG_BROKEN,
            f"the log is damaged: {recording.reading.broken} of {recording.reading.lines} lines are "
            f"unreadable, and {recording.reading.cut_off} of {recording.reading.files} files are truncated",
        )
    asked, given = (
        recording.properties.get("spark.executor.instances"),
        properties.get("spark.executor.instances"),
    )
    if asked not in (None, given):
        say(
            RemarkCode.FEWER_CAME,
            f"the application requested {asked} executors and got {given}: the replay uses {given}",
        )
    if len({stage.profile for stage in recording.stages}) > 1:
        say(
            RemarkCode.SEVERAL_PROFILES,
            "stages use several resource profiles: the replay uses the default profile for all",
        )
    if is_true(properties, "spark.speculation"):
        say(
            RemarkCode.SPECULATION,
            "speculation was on: the replay starts no second attempt of a slow task",
        )
    if properties.get("spark.scheduler.mode", "").upper() == "FAIR" and any(j.pool for j in recording.jobs):
        say(
            RemarkCode.FAIR_SCHEDULER,
            "the log does not have the weights of the FAIR scheduler's pools: in the replay, all weigh the "
            "same and have no minimum share",
        )
    if any(stage.attempt for stage in recording.stages):
        say(
            RemarkCode.STAGES_AGAIN,
            "stages ran again because output was lost: the replay includes these later attempts",
        )
    if is_true(properties, f"{DYNAMIC}enabled"):
        say(
            RemarkCode.SHUFFLE_CLEANING,
            "a log does not show when Spark's garbage collection frees shuffle output: the replay keeps it",
        )
    return tuple(found)
