"""The recorded configuration, and whether its log can be replayed at all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from sparkgen.errors import SparkgenError
from sparkgen.eventlog import Recording
from sparkgen.eventlog.recording import ResourceProfile
from sparkgen.grammar.whole import whole
from sparkgen.model.properties import is_true
from sparkgen.runtime.allocator.decide import ceiling
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
_FIRST = (f"{DYNAMIC}minExecutors", f"{DYNAMIC}initialExecutors", "spark.executor.instances")
"""The properties for executors that exist from the start, with dynamic allocation."""


MORE_EXECUTORS = 10
"""A log may ask for this many times the executors that came, or for ceiling.UNREVIEWED if these are more.

Its properties are claims of user code, and a replay with many executors takes long.
"""

MOST_PROFILES = 1000
"""The most resource profiles of a replay: with each event, Spark's policy looks at all of them."""


class NotReplayable(SparkgenError):
    """A log cannot be replayed; the text says why."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded configuration, and the work that was done with it."""

    settings: Configuration
    work: Workload
    lost: Losses
    asked: Asked
    """For each executor, when it was requested."""


def recorded_properties(recording: Recording) -> dict[str, str]:
    """Spark's properties of the recorded run; values that the log lacks are derived from its executors."""
    properties = {
        name: value
        for name, value in recording.properties.items()
        # A cluster may give executors a resource that no property has: the tasks ran nevertheless.
        if not (name.startswith("spark.task.") and is_task_resource(name))
        or name.replace("spark.task.", "spark.executor.", 1) in recording.properties
    }
    cores = Counter(one.cores for one in recording.executors)
    if cores:
        properties.setdefault("spark.executor.cores", str(cores.most_common(1)[0][0]))
    for name in _FIRST:
        if (count := whole(properties.get(name, ""))) and most_executors(recording) < count < 2**31 - 1:
            properties[name] = str(most_executors(recording))
    if is_true(properties, f"{DYNAMIC}enabled"):
        if recording.spark_version.startswith(("2.", "3.0.", "3.1.", "3.2.", "3.3.")):  # true since 3.4
            properties.setdefault(f"{DYNAMIC}shuffleTracking.enabled", "false")
        return properties
    asked, came = whole(properties.get("spark.executor.instances", "")), _came(recording)
    if (
        asked != came
    ):  # the cluster had no room for more, the work was done, or another setting requested them
        properties["spark.executor.instances"] = str(came)
    return properties


def most_executors(recording: Recording) -> int:
    """The most executors for which the properties of a log may ask."""
    return max(ceiling.UNREVIEWED, MORE_EXECUTORS * len(recording.executors))


def with_most(settings: Configuration, most: int) -> Configuration:
    """The settings with at most this many executors by dynamic allocation."""
    if settings.dynamic is None or ceiling.maximum(settings.allocation) <= most:
        return settings
    return replace(settings, allocation=replace(settings.allocation, maximum=most))


def _came(recording: Recording) -> int:
    """The number of executors at one time. An executor that replaced a lost one is not counted in addition.

    If there were more than requested, only those that ran a task count.
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

    Then its context was up, and enough executors had registered, or it had waited long enough.
    """
    enough = math.ceil(settings.registered_ratio * settings.initial)
    added = sorted(one.added for one in recording.executors)
    waited = 0.0 if enough == 0 else added[enough - 1] if enough <= len(added) else math.inf
    longest = recording.driver_up + settings.longest_wait
    return min(max(recording.driver_up, min(waited, longest)), recording.first_job)


def understood(recording: Recording) -> Recorded:
    """The recording as a replay needs it. Raises NotReplayable if there is nothing to replay."""
    _refuse(recording)
    settings = configuration(recorded_properties(recording))
    settings = replace(settings, profiles=shapes(recording, settings))
    settings = with_most(settings, most_executors(recording))
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
    if (used := len({stage.profile for stage in recording.stages})) > MOST_PROFILES:
        raise NotReplayable(
            f"{recording.source}: the stages use {used:,} resource profiles, and a replay can handle at most "
            f"{MOST_PROFILES:,}. Record a run that builds each profile once, and uses it again"
        )


def shapes(recording: Recording, settings: Configuration) -> dict[int, Shape]:
    """Profile -> the size of its executors, for profiles that stages use besides the default one."""
    used = {stage.profile for stage in recording.stages} - {0}
    cores: dict[int, Counter[int]] = {}
    for one in recording.executors:
        cores.setdefault(one.profile, Counter())[one.cores] += 1
    return {
        id_: _shape(recording.profiles.get(id_, ResourceProfile({}, {})), cores.get(id_, Counter()), settings)
        for id_ in sorted(used)
    }


def _shape(said: ResourceProfile, had: Counter[int], settings: Configuration) -> Shape:
    """The size of a profile's executors; missing cores are as in the log, others as in the default one.

    `had`: how many executors of the log had a number of cores.
    """
    usual = had.most_common(1)[0][0] if had else settings.cores
    most = tasks_at_once(
        {name: amount for name, amount in said.executor.items() if name not in _OWN},
        {name: amount for name, amount in said.task.items() if name not in _OWN},
    )
    sizes = [said.executor[name] for name in _MEMORY if name in said.executor]
    return Shape(
        cores=max(1, int(said.executor.get("cores", usual))),
        task_cpus=max(1, int(said.task.get("cpus", settings.task_cpus))),
        memory=int(sum(sizes)) if "memory" in said.executor else settings.executor_memory,
        most_tasks=None if most is None else max(1, most),  # tasks ran, even if the log says that none could
    )
