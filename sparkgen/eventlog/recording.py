"""A recorded application as values. All times are seconds since the application began; sizes are bytes."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

SUCCEEDED, FAILED, KILLED, LOST, WITHOUT_INPUT = 0, 1, 2, 3, 4
"""How a task attempt ended. LOST: with its executor. WITHOUT_INPUT: what it reads was lost (FetchFailed)."""


def _floats() -> array[float]:
    return array("d")


def _numbers() -> array[int]:
    return array("q")


def _small() -> array[int]:
    return array("b")


def _indexes() -> array[int]:
    return array("i")


@dataclass(slots=True)
class Tasks:
    """The task attempts of a stage attempt, a column a fact, in the order in which they ended.

    Columns, because a log may hold millions: a task takes some hundred bytes.
    """

    index: array[int] = field(default_factory=_indexes)
    """Which task of the stage, from 0."""
    launched: array[float] = field(default_factory=_floats)
    finished: array[float] = field(default_factory=_floats)
    executor: array[int] = field(default_factory=_indexes)
    """Place in `Recording.executors`."""
    outcome: array[int] = field(default_factory=_small)
    speculative: array[int] = field(default_factory=_small)
    run: array[float] = field(default_factory=_floats)
    """Seconds in the executor, with the time to deserialize."""
    cpu: array[float] = field(default_factory=_floats)
    """Seconds of the processor; what a Python worker uses is not in it."""
    gc: array[float] = field(default_factory=_floats)
    spilled: array[int] = field(default_factory=_numbers)
    read: array[int] = field(default_factory=_numbers)
    """Bytes of input and shuffle."""
    written: array[int] = field(default_factory=_numbers)
    """Bytes of shuffle."""
    peak: array[int] = field(default_factory=_numbers)
    """Execution memory."""

    def __len__(self) -> int:
        return len(self.index)

    def take(self, other: Tasks, row: int, index: int) -> None:
        """Take an attempt of another stage attempt, as the task `index` of this one."""
        for name in self.__slots__:
            getattr(self, name).append(index if name == "index" else getattr(other, name)[row])

    def seconds(self, row: int) -> float:
        """How long an attempt took."""
        return self.finished[row] - self.launched[row]


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt of a stage."""

    id: int
    attempt: int
    name: str
    size: int
    """How many tasks it has; a later attempt runs only those whose output was lost."""
    parents: tuple[int, ...]
    """Ids of the stages whose output it reads."""
    submitted: float
    completed: float | None
    """None when the log ends before."""
    failure: str
    profile: int
    caches: frozenset[int]
    """RDDs that executors keep which run its tasks."""
    tasks: Tasks


@dataclass(frozen=True, slots=True)
class Job:
    """A job."""

    id: int
    submitted: float
    completed: float | None
    succeeded: bool
    stages: tuple[int, ...]
    """Ids of all its stages, those that were skipped, too."""
    execution: str
    """Of which execution of SQL it is a part; "" for none."""
    batch: str
    """Of which micro-batch of a stream; "" for none."""
    stream: str
    """Of which stream; "" for none."""
    pool: str
    """In which pool of the FAIR scheduler; "" for the default one."""


@dataclass(frozen=True, slots=True)
class MemoryPeak:
    """The most that a process had at one time, in bytes; 0 where nobody measured."""

    heap: int = 0
    off_heap: int = 0
    resident: int = 0
    """The process with its Python workers, as the kernel counts it (Linux, where Spark is told to look)."""

    @property
    def jvm(self) -> int:
        """Heap and off-heap together."""
        return self.heap + self.off_heap


@dataclass(frozen=True, slots=True)
class ResourceProfile:
    """What a resource profile asks for, by Spark's names: cores, memory (in MiB), gpu, ..."""

    executor: Mapping[str, float]
    task: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor that registered."""

    id: str
    host: str
    cores: int
    profile: int
    added: float
    requested: float | None
    """When Spark asked for it, where the log says so."""
    removed: float | None
    reason: str
    peak: MemoryPeak


@dataclass(frozen=True, slots=True)
class Reading:
    """How reading went. `cut_off`: files that break off, or whose rest cannot be unpacked."""

    files: int
    read_bytes: int
    lines: int
    broken: int
    first_broken: str
    cut_off: int
    impossible: int = 0
    """Times that cannot be, as a clock was set: they were moved into the application's time."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a log says of an application."""

    source: str
    """As the user named it."""
    name: str
    application_id: str
    spark_version: str
    began: int
    """Milliseconds since 1970."""
    ended: float
    """When it ended, or the last time in the log."""
    finished: bool
    """Whether the log says that the application ended."""
    properties: Mapping[str, str]
    executors: tuple[Executor, ...]
    stages: tuple[Stage, ...]
    """In the order in which they were submitted."""
    jobs: tuple[Job, ...]
    driver_up: float
    """When the driver's block manager registered, just before its context is up; 0 where no log says."""
    driver_peak: MemoryPeak
    reading: Reading
    profiles: Mapping[int, ResourceProfile] = field(default_factory=dict)
    """Those that the log names; the default one is 0."""
    lost_output: int = 0
    """Tasks that ran again because the executor was lost that kept their output (Resubmitted)."""

    def is_first(self, executor: Executor) -> bool:
        """Whether an executor was asked for with the application, and not by a job."""
        first_job = min((job.submitted for job in self.jobs), default=self.ended)
        return executor.requested is None or executor.requested <= first_job

    @property
    def wall(self) -> float:
        """Seconds from the application's start to its end."""
        return self.ended

    @property
    def executor_seconds(self) -> float:
        """Seconds that executors were registered, summed."""
        return sum((self.ended if e.removed is None else e.removed) - e.added for e in self.executors)

    @property
    def task_seconds(self) -> float:
        """Seconds that task attempts ran, summed."""
        return sum(stage.tasks.seconds(row) for stage in self.stages for row in range(len(stage.tasks)))
