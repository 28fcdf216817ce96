"""Reads the settings of a replay from Spark's properties. Times in seconds, memory in MiB."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkgen.errors import SparkgenError
from sparkgen.grammar import GrammarError, duration, memory
from sparkgen.grammar.whole import whole
from sparkgen.model.properties import is_true
from sparkgen.runtime.allocator.values.settings import AllocationSettings

DYNAMIC = "spark.dynamicAllocation."
MAXIMUM = f"{DYNAMIC}maxExecutors"
LEAST_OVERHEAD = 384
OVERHEAD_FACTOR = 0.1
LARGEST_FACTOR = 1000
"""Larger than any useful ratio or factor of Spark, and small enough that no product is infinite."""
LONGEST_SHOWN = 40
_RESOURCE = re.compile(r"spark\.(?P<whose>executor|task)\.resource\.(?P<resource>[^.]+)\.amount")
_SLACK = 1e-9


class BadSetting(SparkgenError):
    """A property has a value that Spark would refuse."""


@dataclass(frozen=True, slots=True)
class DynamicAllocation:
    """Spark's dynamic allocation; defaults are Spark's (org.apache.spark.internal.config)."""

    minimum: int = 0
    initial: int = 0
    maximum: int | None = None
    """None: Spark has no limit; the allocator has its own (ceiling.py)."""
    idle_timeout: float = 60.0
    cached_timeout: float = math.inf
    backlog_timeout: float = 1.0
    sustained_timeout: float = 1.0
    ratio: float = 1.0
    tracking: bool = True
    """Whether to keep executors whose shuffle output an active job may need: the default since Spark 3.4."""
    tracking_timeout: float = math.inf


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of the executors of a resource profile, and of their tasks."""

    cores: int
    task_cpus: int
    memory: int
    """The memory request of its pod, in MiB."""
    most_tasks: int | None = None
    """The most tasks that resources such as GPUs allow; None if tasks need none."""

    @property
    def slots(self) -> int:
        """The number of tasks that it runs at one time."""
        return self.slots_of(self.cores)

    def slots_of(self, cores: int) -> int:
        """The number of tasks that an executor with this many cores runs at one time."""
        by_cores = max(1, cores // self.task_cpus)
        return by_cores if self.most_tasks is None else min(by_cores, self.most_tasks)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of one replay."""

    cores: int = 1
    task_cpus: int = 1
    memory: int = 1024
    overhead: int = LEAST_OVERHEAD
    instances: int = 2
    dynamic: DynamicAllocation | None = None
    """None: `instances` executors, from the beginning to the end."""
    fair: bool = False
    """Whether pools of jobs share the executors; in a pool, and without pools, jobs run in their order."""
    shuffle_service: bool = False
    """Whether shuffle output outlives its executor."""
    registered_ratio: float = 0.8
    """The first job begins once this part of the first executors has registered."""
    longest_wait: float = 30.0
    """The first job begins after these seconds in any case."""
    allocation: AllocationSettings = field(default_factory=AllocationSettings)
    most_tasks: int | None = None
    """The most tasks at one time that resources such as GPUs allow; None if tasks need none."""
    profiles: Mapping[int, Shape] = field(default_factory=dict)
    """The other resource profiles that stages use, with sizes from the log, which no setting changes."""

    @property
    def default(self) -> Shape:
        """An executor of the default resource profile."""
        return Shape(self.cores, self.task_cpus, self.executor_memory, self.most_tasks)

    def shape(self, profile: int) -> Shape:
        """An executor of a resource profile."""
        return self.profiles.get(profile, self.default)

    @property
    def slots(self) -> int:
        """The number of tasks that an executor of the default profile runs at one time."""
        return self.default.slots

    @property
    def all_slots(self) -> int | dict[int, int]:
        """The slots of an executor, or profile -> slots if there are several profiles."""
        others = {profile: shape.slots for profile, shape in self.profiles.items()}
        return {0: self.slots, **others} if others else self.slots

    @property
    def executor_memory(self) -> int:
        """The memory request of an executor's pod, in MiB."""
        return self.memory + self.overhead

    @property
    def initial(self) -> int:
        """The number of executors at the start."""
        return self.instances if self.dynamic is None else self.dynamic.initial


def configuration(properties: Mapping[str, str]) -> Configuration:
    """The settings in Spark's properties. Raises BadSetting for a value that Spark would refuse."""
    read = _Reader(properties)
    cores = read.count("spark.executor.cores", 1)
    heap = read.mebibytes("spark.executor.memory", 1024)
    factor = read.number("spark.executor.memoryOverheadFactor", OVERHEAD_FACTOR)
    overhead = read.mebibytes("spark.executor.memoryOverhead", max(LEAST_OVERHEAD, int(heap * factor)))
    more = read.mebibytes("spark.executor.pyspark.memory", 0) + read.mebibytes("spark.memory.offHeap.size", 0)
    service = is_true(properties, "spark.shuffle.service.enabled")
    dynamic = _dynamic(read, service) if is_true(properties, f"{DYNAMIC}enabled") else None
    instances = read.count("spark.executor.instances", 2, least=0)
    return Configuration(
        cores=cores,
        task_cpus=read.count("spark.task.cpus", 1),
        memory=heap,
        overhead=overhead + more,
        instances=instances,
        dynamic=dynamic,
        fair=(read.text("spark.scheduler.mode") or "").upper() == "FAIR",
        shuffle_service=service,
        registered_ratio=read.number("spark.scheduler.minRegisteredResourcesRatio", _usual_ratio(properties)),
        longest_wait=read.seconds("spark.scheduler.maxRegisteredResourcesWaitingTime", 30.0, "ms"),
        allocation=_allocation(read, dynamic, instances),
        most_tasks=_most_tasks(read),
    )


def is_task_resource(name: str) -> bool:
    """Whether a property is the amount of a resource, such as GPUs, of an executor or a task."""
    return _RESOURCE.fullmatch(name) is not None


def _most_tasks(read: _Reader) -> int | None:
    executor: dict[str, float] = {}
    task: dict[str, float] = {}
    for name in read.properties:
        if found := _RESOURCE.fullmatch(name):
            amounts = executor if found["whose"] == "executor" else task
            amounts[found["resource"]] = read.number(name, 0.0)
    most = tasks_at_once(executor, task)
    if most == 0:
        asked = ", ".join(f"{name} ({amount:g})" for name, amount in sorted(task.items()))
        raise BadSetting(f"no executor can run a task: each task needs {asked}, and executors have less")
    return most


def tasks_at_once(executor: Mapping[str, float], task: Mapping[str, float]) -> int | None:
    """The number of tasks that an executor's resources allow, by Spark's rule; None if tasks need none.

    A task may need a part of a resource, such as half of a GPU, which several tasks then share.
    """
    allowed = [
        int(executor.get(name, 0.0)) * int(1 / amount + _SLACK)
        if amount <= 1
        else int(executor.get(name, 0.0) // amount)
        for name, amount in task.items()
        if amount > 0
    ]
    return min(allowed, default=None)


def _usual_ratio(properties: Mapping[str, str]) -> float:
    """Spark's default: 0 for local mode and standalone clusters, 80 % for Kubernetes, YARN and sparkgen."""
    return 0.0 if properties.get("spark.master", "").startswith(("spark://", "local")) else 0.8


def _dynamic(read: _Reader, service: bool) -> DynamicAllocation:
    least = read.count(f"{DYNAMIC}minExecutors", 0, least=0)
    most = read.optional_count(MAXIMUM)
    if most is not None and most < least:
        raise BadSetting(f"{MAXIMUM} is {most}, less than minExecutors ({least})")
    asked = read.count(f"{DYNAMIC}initialExecutors", least, least=0)
    asked = max(least, asked, read.count("spark.executor.instances", 0, least=0))
    backlog = read.seconds(f"{DYNAMIC}schedulerBacklogTimeout", 1.0)
    return DynamicAllocation(
        minimum=least,
        initial=asked,
        maximum=most,
        idle_timeout=read.seconds(f"{DYNAMIC}executorIdleTimeout", 60.0),
        cached_timeout=read.seconds(f"{DYNAMIC}cachedExecutorIdleTimeout", math.inf),
        backlog_timeout=backlog,
        sustained_timeout=read.seconds(f"{DYNAMIC}sustainedSchedulerBacklogTimeout", backlog),
        ratio=read.number(f"{DYNAMIC}executorAllocationRatio", 1.0),
        tracking=not service and is_true(read.properties, f"{DYNAMIC}shuffleTracking.enabled", True),
        tracking_timeout=read.seconds(f"{DYNAMIC}shuffleTracking.timeout", math.inf, "ms"),
    )


def _allocation(read: _Reader, dynamic: DynamicAllocation | None, instances: int) -> AllocationSettings:
    batch = "spark.kubernetes.allocation."
    return AllocationSettings(
        dynamic=dynamic is not None,
        instances=instances,
        minimum=0 if dynamic is None else dynamic.minimum,
        initial=0 if dynamic is None else dynamic.initial,
        maximum=None if dynamic is None else dynamic.maximum,
        batch_size=read.optional_count(f"{batch}batch.size"),
        batch_delay=read.seconds(f"{batch}batch.delay", 1.0, "ms"),
        max_pending=read.optional_count(f"{batch}maxPendingPods"),
        # A measured delay is no failure, however long it is: the cluster may have been full.
        executor_timeout=math.inf,
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads properties as values. Its methods raise BadSetting with the name of a wrong property."""

    properties: Mapping[str, str]

    def text(self, name: str) -> str | None:
        given = self.properties.get(name)
        return None if given is None or not given.strip() else given.strip()

    def optional_count(self, name: str, least: int = 1) -> int | None:
        given = self.text(name)
        if given is None:
            return None
        count = whole(given)
        if count is None or not least <= count < 2**31:
            raise BadSetting(f"{name} must be a whole number of at least {least}, not {_shown(given)}")
        return None if count == 2**31 - 1 else count

    def count(self, name: str, default: int, least: int = 1) -> int:
        given = self.optional_count(name, least)
        return default if given is None else given

    def number(self, name: str, default: float) -> float:
        given = self.text(name)
        try:
            value = default if given is None else float(given)
        except ValueError:
            value = math.nan
        if not 0 <= value <= LARGEST_FACTOR:
            raise BadSetting(f"{name} must be a number from 0 to {LARGEST_FACTOR}, not {_shown(given or '')}")
        return value

    def seconds(self, name: str, default: float, unit: str = "s") -> float:
        given = self.text(name)
        if given is None:
            return default
        try:
            return duration.to_milliseconds(given, unit) / 1000
        except GrammarError as error:
            raise BadSetting(f"{name} is {_shown(given)}: {error}") from error

    def mebibytes(self, name: str, default: int) -> int:
        given = self.text(name)
        if given is None:
            return default
        try:
            return memory.to_mib(given)
        except GrammarError as error:
            raise BadSetting(f"{name} is {_shown(given)}: {error}") from error


def _shown(text: str) -> str:
    """The value for a message, cut to LONGEST_SHOWN characters."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...")
