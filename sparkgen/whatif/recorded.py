"""The configuration that was recorded, and whether a replay can answer for its log at all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from sparkgen.errors import SparkgenError
from sparkgen.eventlog import Recording
from sparkgen.eventlog.recording import ResourceProfile
from sparkgen.grammar.whole import whole
from sparkgen.model.properties import is_true
from sparkgen.whatif.configuration import (
    DYNAMIC,
    Configuration,
    Shape,
    configuration,
    is_task_resource,
    tasks_at_once,
)
from sparkgen.whatif.losses import Losses, losses
from sparkgen.whatif.measured_work import workload
from sparkgen.whatif.outcome import end_of, most_at_once
from sparkgen.whatif.requests import Asked, asked_at
from sparkgen.whatif.workload import Workload

_MEMORY = ("memory", "memoryOverhead", "offHeap", "pyspark.memory")
"""The names of ExecutorResourceRequests for memory, in MiB."""
_OWN = (*_MEMORY, "cores", "cpus")


class NotReplayable(SparkgenError):
    """A log that a replay cannot answer for, in words."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded configuration, and the work that was done with it."""

    settings: Configuration
    work: Workload
    lost: Losses
    asked: Asked
    """For each executor, when it was asked for."""


def recorded_properties(recording: Recording) -> dict[str, str]:
    """Spark's properties as the application ran: what the log does not say is taken from its executors."""
    properties = {
        name: value
        for name, value in recording.properties.items()
        # A cluster may give tasks a resource that no property promises: they ran all the same.
        if not (name.startswith("spark.task.") and is_task_resource(name))
        or name.replace("spark.task.", "spark.executor.", 1) in recording.properties
    }
    cores = Counter(one.cores for one in recording.executors)
    if cores:
        properties.setdefault("spark.executor.cores", str(cores.most_common(1)[0][0]))
    if is_true(properties, f"{DYNAMIC}enabled"):
        if recording.spark_version.startswith(("2.", "3.0.", "3.1.", "3.2.", "3.3.")):  # true since 3.4
            properties.setdefault(f"{DYNAMIC}shuffleTracking.enabled", "false")
        return properties
    asked, came = whole(properties.get("spark.executor.instances", "")), _came(recording)
    if (
        asked != came
    ):  # the cluster had no room for more, the work was done, or another setting asked for them
        properties["spark.executor.instances"] = str(came)
    return properties


def _came(recording: Recording) -> int:
    """How many executors there were together. One that replaced a lost one is not counted beside it.

    Where there were more than were asked for, those count that ran a task.
    """
    most = most_at_once((one.added, end_of(recording, one)) for one in recording.executors)
    asked = whole(recording.properties.get("spark.executor.instances", ""))
    if asked is not None and most > asked:
        used = {place for stage in recording.stages for place in stage.tasks.executor}
        ran = (recording.executors[place] for place in used)
        most = max(asked, most_at_once((one.added, end_of(recording, one)) for one in ran))
    lasting = len(recording.executors) - len(losses(recording, dynamic=False).executors)
    return asked if asked is not None and lasting <= asked < most else most


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
    found = understood(recording)
    return found.settings, found.work


def understood(recording: Recording) -> Recorded:
    """What was recorded, as a replay needs it. NotReplayable where there is nothing to replay."""
    _refuse(recording)
    settings = configuration(recorded_properties(recording))
    settings = replace(settings, profiles=shapes(recording, settings))
    lost = losses(recording, dynamic=settings.dynamic is not None)
    asked = asked_at(recording, settings, lost.executors)
    return Recorded(
        settings, workload(recording, settings, ready_at(recording, settings), asked), lost, asked
    )


def _refuse(recording: Recording) -> None:
    if not recording.jobs or not any(len(stage.tasks) for stage in recording.stages):
        raise NotReplayable(
            f"{recording.source}: no task finished in this log, so there is nothing to replay"
        )
    master = recording.properties.get("spark.master", "")
    if master.startswith("local") and "local-cluster" not in master:
        raise NotReplayable(
            f"{recording.source}: the application ran in Spark's local mode, without executors. "
            "Record a run with executors, for example with sparkgen run --local"
        )


def shapes(recording: Recording, settings: Configuration) -> dict[int, Shape]:
    """The executors of the resource profiles that stages use beside the default one."""
    used = {stage.profile for stage in recording.stages} - {0}
    return {id_: _shape(recording, id_, settings) for id_ in sorted(used)}


def _shape(recording: Recording, id_: int, settings: Configuration) -> Shape:
    """What a profile does not say is as in the default one; its executors say how many cores they have."""
    said = recording.profiles.get(id_, ResourceProfile({}, {}))
    had = Counter(one.cores for one in recording.executors if one.profile == id_)
    usual = had.most_common(1)[0][0] if had else settings.cores
    sizes = [said.executor[name] for name in _MEMORY if name in said.executor]
    return Shape(
        cores=max(1, int(said.executor.get("cores", usual))),
        task_cpus=max(1, int(said.task.get("cpus", settings.task_cpus))),
        memory=int(sum(sizes)) if "memory" in said.executor else settings.executor_memory,
        most_tasks=tasks_at_once(
            {name: amount for name, amount in said.executor.items() if name not in _OWN},
            {name: amount for name, amount in said.task.items() if name not in _OWN},
        ),
    )
