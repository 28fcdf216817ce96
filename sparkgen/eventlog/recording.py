"""A recorded application as values. All times are seconds since the application's start; sizes are bytes."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

SUCCEEDED, FAILED, KILLED, LOST, WITHOUT_INPUT = 0, 1, 2, 3, 4
"""The outcomes of a task attempt. LOST: with its executor. WITHOUT_INPUT: input was lost (FetchFailed)."""


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
    """The task attempts of a stage attempt, one column per field, in the order in which they ended.

    Columns save memory, because a log may have millions of tasks: a task takes some hundred bytes.
    """

    index: array[int] = field(default_factory=_indexes)
    """The task's index in the stage, from 0."""
    launched: array[float] = field(default_factory=_floats)
    finished: array[float] = field(default_factory=_floats)
    executor: array[int] = field(default_factory=_indexes)
    """The executor's index in `Recording.executors`."""
    outcome: array[int] = field(default_factory=_small)
    speculative: array[int] = field(default_factory=_small)
    run: array[float] = field(default_factory=_floats)
    """Seconds in the executor, including the time to deserialize."""
    cpu: array[float] = field(default_factory=_floats)
    """CPU seconds, without those of Python workers."""
    gc: array[float] = field(default_factory=_floats)
    spilled: array[int] = field(default_factory=_numbers)
    read: array[int] = field(default_factory=_numbers)
    """Bytes read from input and shuffle."""
    written: array[int] = field(default_factory=_numbers)
    """Bytes of shuffle written."""
    peak: array[int] = field(default_factory=_numbers)
    """The peak of execution memory, in bytes."""

    def __len__(self) -> int:
        return len(self.index)

    def take(self, other: Tasks, row: int, index: int) -> None:
        """Add an attempt of another stage attempt, as the task `index` of this one."""
        for name in self.__slots__:
            getattr(self, name).append(index if name == "index" else getattr(other, name)[row])

    def seconds(self, row: int) -> float:
        """The duration of an attempt in seconds."""
        return self.finished[row] - self.launched[row]


@dataclass(frozen=True, slots=True)
class Stage:
    """One attempt of a stage."""

    id: int
    attempt: int
    name: str
    size: int
    """The number of its tasks; a later attempt runs only those whose output was lost."""
    parents: tuple[int, ...]
    """Ids of the stages whose output it reads."""
    submitted: float
    completed: float | None
    """None if the log ends before."""
    failure: str
    profile: int
    caches: frozenset[int]
    """The ids of RDDs that the executors of its tasks keep."""
    tasks: Tasks


@dataclass(frozen=True, slots=True)
class Job:
    """A job."""

    id: int
    submitted: float
    completed: float | None
    succeeded: bool
    stages: tuple[int, ...]
    """Ids of all its stages, including skipped ones."""
    execution: str
    """The SQL execution that it belongs to; "" for none."""
    batch: str
    """The micro-batch of a stream that it belongs to; "" for none."""
    stream: str
    """The stream that it belongs to; "" for none."""
    pool: str
    """Its pool of the FAIR scheduler; "" for the default pool."""


@dataclass(frozen=True, slots=True)
class MemoryPeak:
    """The peaks of a process's memory, in bytes; 0 if not measured."""

    heap: int = 0
    off_heap: int = 0
    resident: int = 0
    """Resident memory of the process and its Python workers (on Linux, if Spark is configured for it)."""


@dataclass(frozen=True, slots=True)
class ResourceProfile:
    """The requests of a resource profile, by Spark's names: cores, memory (in MiB), gpu, ..."""

    executor: Mapping[str, float]
    task: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor that registered, or that ran a task."""

    id: str
    host: str
    cores: int
    profile: int
    added: float
    requested: float | None
    """When Spark requested it; None if the log lacks this time."""
    removed: float | None
    reason: str
    peak: MemoryPeak

    def is_first(self, first_job: float) -> bool:
        """Whether it was requested no later than the first job, that is, at the start."""
        return self.requested is None or self.requested <= first_job


@dataclass(frozen=True, slots=True)
class Reading:
    """The counts of reading. `cut_off`: files that are truncated, or whose rest cannot be unpacked."""

    files: int
    read_bytes: int
    lines: int
    broken: int
    first_broken: str
    cut_off: int
    impossible: int = 0
    """The number of impossible times, for example after a clock was set; they were moved to possible ones."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An application as its log describes it."""

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
    """Whether the log has the end of the application."""
    properties: Mapping[str, str]
    executors: tuple[Executor, ...]
    stages: tuple[Stage, ...]
    """In the order in which they were submitted."""
    jobs: tuple[Job, ...]
    driver_up: float
    """When the driver's block manager registered, just before its context is up; 0 if the log lacks this."""
    reading: Reading
    profiles: Mapping[int, ResourceProfile] = field(default_factory=dict)
    """Id -> profile, for those in the log; the default profile is 0."""
    lost_output: int = 0
    """The number of tasks that ran again because the executor with their output was lost (Resubmitted)."""

    @property
    def first_job(self) -> float:
        """When the first job was submitted, from all jobs; the end if there is none."""
        return min((job.submitted for job in self.jobs), default=self.ended)

    @property
    def wall(self) -> float:
        """Seconds from the application's start to its end."""
        return self.ended

    @property
    def executor_seconds(self) -> float:
        """The sum of the seconds for which executors were registered."""
        return sum((self.ended if e.removed is None else e.removed) - e.added for e in self.executors)

    @property
    def task_seconds(self) -> float:
        """The sum of the durations of all task attempts, in seconds."""
        return sum(stage.tasks.seconds(row) for stage in self.stages for row in range(len(stage.tasks)))
