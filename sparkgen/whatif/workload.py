"""A recording as work to replay: what waits for what, how long each part takes, and the time in between.

The laws, all of them simple on purpose:

- A task takes as long as in the log, wherever it runs. The first task in each slot of an executor takes
  longer by the additional time of first tasks in the log (for loading classes and compiling code).
- A stage begins once the stages whose output it reads are complete, and a job once all jobs are complete that
  ended before it began; in between, the driver takes the same time as in the log.
- The first task of a stage starts as long after the stage's start as in the log, if a slot was free then.
- A failed attempt fails again, after the same time. Killed attempts are left out: another attempt of the same
  task had succeeded, or its stage had failed. Attempts that ended with their executor, or whose input was
  lost, are left out, too (losses.py): a replay has only the losses that the question asks for.
- A task whose end is not in the log takes as long as the median of the stage's other tasks.
- A micro-batch of a stream begins by its trigger's clock, if this can be inferred (batches.py); otherwise no
  sooner than in the log.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.whatif.batches import Batch
from sparkgen.whatif.remark import Remark


@dataclass(frozen=True, slots=True)
class StageWork:
    """One attempt of a stage."""

    id: int
    attempt: int
    name: str
    job: int
    """Index of its job."""
    after: tuple[int, ...]
    """Indexes of the stages that it waits for."""
    gap: float
    """The driver's seconds between these, or the start of its job, and its start."""
    launch: float
    """The driver's seconds from its start until its first task could start, to prepare the tasks."""
    tasks: tuple[tuple[float, ...], ...]
    """Seconds of each task's attempts; all but the last one fail."""
    shuffle: bool
    """Whether executors keep its output."""
    cached: bool
    cpu: float = 0.0
    """The CPU time of its tasks as a part of their time."""
    gc: float = 0.0
    """The time of garbage collection as a part of its tasks' time."""
    profile: int = 0
    """The resource profile of the executors that run it."""

    @property
    def longest(self) -> float:
        """Seconds of its longest task, including failed attempts."""
        return max((sum(attempts) for attempts in self.tasks), default=0.0)


@dataclass(frozen=True, slots=True)
class JobWork:
    """A job."""

    id: int
    after: tuple[int, ...]
    """Indexes of the jobs that it waits for."""
    gap: float
    not_before: float
    """The earliest start, in seconds after the driver is ready; 0 except for a batch that waits for data."""
    stages: tuple[int, ...]
    tail: float
    """The driver's seconds after its last stage."""
    execution: str
    pool: str = ""
    batch: Batch | None = None
    """The start of the micro-batch, if this is its first job and not the stream's first batch."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The work of an application, independent of its executors."""

    jobs: tuple[JobWork, ...]
    stages: tuple[StageWork, ...]
    tail: float
    """The driver's seconds after the last job."""
    first_delays: tuple[float, ...]
    """Seconds from the application's start until each of the first executors registered."""
    start_delays: tuple[float, ...]
    """Seconds from the request until each later executor registered, in the order of the requests."""
    usual_delay: float
    """Seconds that any other executor takes to register."""
    warm_up: float
    """The additional seconds of the first task in each slot."""
    assumed: tuple[Remark, ...]
    """Remarks about what the log lacks, and what is assumed instead."""
    context: float = 0.0
    """Seconds until the driver's context is up: before, it begins no job."""

    @property
    def task_seconds(self) -> float:
        """The sum of the seconds of all task attempts on warm executors."""
        return sum(seconds for stage in self.stages for attempts in stage.tasks for seconds in attempts)

    @property
    def critical_path(self) -> float:
        """The seconds that it takes on any number of warm executors that exist from the start."""
        done: dict[int, float] = {}
        begins: list[float] = []
        ends: list[float] = []
        for job in self.jobs:
            before = max((ends[one] for one in job.after), default=0.0)
            began = max(job.not_before, before + job.gap)
            if job.batch is not None and job.batch.clock is not None:
                began = max(began, job.batch.clock.after(begins[job.batch.before]))
            begins.append(began)
            for place in job.stages:
                stage = self.stages[place]
                parents = max((done[one] for one in stage.after), default=began)
                done[place] = max(parents, began) + stage.gap + stage.launch + stage.longest
            ends.append(max((done[place] for place in job.stages), default=began) + job.tail)
        return max(ends, default=0.0) + self.tail
