"""A recording as work to be done again: what waits for what, how long each part takes, and what lies between.

The laws, all of them simple on purpose:

- A task takes as long as it did, wherever it runs. The first task of each of an executor's slots takes longer
  by what first tasks took longer in the log (classes are loaded, code is compiled).
- A stage begins when the stages are complete whose output it reads, and a job when all jobs are complete
  that ended before it began; between lies the same time of the driver as in the log.
- The first task of a stage starts as long after the stage's begin as in the log, where a slot was free then.
- A failed attempt fails again, after the same time. Attempts that were killed are left out: another attempt
  of the same task had won, or its stage had failed. So are those that ended with their executor, or whose
  input was lost (losses.py): in a replay nothing is lost, but for what is asked.
- A task whose end is not in the log takes as long as the stage's other tasks, in the median.
- A micro-batch of a stream begins as its trigger's clock says, where one can be seen (batches.py); else no
  sooner than it did.
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
    """Place of its job."""
    after: tuple[int, ...]
    """Places of the stages that come before it."""
    gap: float
    """Seconds of the driver between them, or its job's begin, and it."""
    launch: float
    """Seconds of the driver from its begin until its first task could start: it prepares them."""
    tasks: tuple[tuple[float, ...], ...]
    """Seconds of each task's attempts; all but the last one fail."""
    shuffle: bool
    """Whether executors keep output of it."""
    cached: bool
    cpu: float = 0.0
    """The part of its tasks' time in which they had the processor."""
    gc: float = 0.0
    """The part that went into garbage collection."""
    profile: int = 0
    """The resource profile of the executors that run it."""

    @property
    def longest(self) -> float:
        """Seconds of its longest task, with its failures."""
        return max((sum(attempts) for attempts in self.tasks), default=0.0)


@dataclass(frozen=True, slots=True)
class JobWork:
    """A job."""

    id: int
    after: tuple[int, ...]
    """Places of the jobs that come before it."""
    gap: float
    not_before: float
    """Seconds since the driver is ready; 0 but for a stream's batch that waits for data."""
    stages: tuple[int, ...]
    tail: float
    """Seconds of the driver after its last stage."""
    execution: str
    pool: str = ""
    batch: Batch | None = None
    """What a micro-batch of a stream waits for that this job begins."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What an application does, without the executors that it does it on."""

    jobs: tuple[JobWork, ...]
    stages: tuple[StageWork, ...]
    tail: float
    """Seconds of the driver after the last job."""
    first_delays: tuple[float, ...]
    """Seconds from the application's start until each of the first executors registered."""
    start_delays: tuple[float, ...]
    """Seconds from asking until each later executor registered, in the order in which they were asked for."""
    usual_delay: float
    """Seconds that any other executor takes to register."""
    warm_up: float
    """Seconds that the first task of each slot takes longer."""
    assumed: tuple[Remark, ...]
    """What the log does not say, and what is taken instead."""
    context: float = 0.0
    """Seconds until the driver's context is up: it asks for nothing and begins no job before."""

    @property
    def task_seconds(self) -> float:
        """Seconds of all task attempts, warm executors taken for granted."""
        return sum(seconds for stage in self.stages for attempts in stage.tasks for seconds in attempts)

    @property
    def critical_path(self) -> float:
        """Seconds that it takes on any number of warm executors that are there from the start."""
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
