"""Workloads and settings for tests, with answers that can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkgen.eventlog import Recording
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.whatif.configuration import Configuration, DynamicAllocation
from sparkgen.whatif.recorded import understood
from sparkgen.whatif.workload import JobWork, StageWork, Workload

DELAY = 2.0
"""Seconds that an executor takes here to register."""


def stage(
    place: int, tasks: Sequence[float], after: Sequence[int] = (), job: int = 0, **more: object
) -> StageWork:
    """A stage of tasks that all succeed at once."""
    made = StageWork(
        id=place,
        attempt=0,
        name=f"stage {place}",
        job=job,
        after=tuple(after),
        gap=0.0,
        launch=0.0,
        tasks=tuple((seconds,) for seconds in tasks),
        shuffle=False,
        cached=False,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def chain(*stages: Sequence[float], shuffle: bool = False, warm_up: float = 0.0) -> Workload:
    """One job, whose stages follow each other."""
    made = tuple(
        stage(place, tasks, range(max(0, place - 1), place), shuffle=shuffle and place + 1 < len(stages))
        for place, tasks in enumerate(stages)
    )
    return of_jobs([(0.0, made)], warm_up=warm_up)


def of_jobs(jobs: Sequence[tuple[float, Sequence[StageWork]]], warm_up: float = 0.0) -> Workload:
    """Jobs one after the other, each with the time of the driver before it."""
    made, first = [], 0
    for place, (gap, stages) in enumerate(jobs):
        places = tuple(range(first, first + len(stages)))
        after = (place - 1,) if place else ()
        made.append(JobWork(place, after, gap, 0.0, places, 0.0, ""))
        first += len(stages)
    return Workload(
        jobs=tuple(made),
        stages=tuple(one for _, stages in jobs for one in stages),
        tail=0.0,
        first_delays=(DELAY,),
        start_delays=(),
        usual_delay=DELAY,
        warm_up=warm_up,
        assumed=(),
    )


def fixed(count: int, cores: int = 1, **more: object) -> Configuration:
    """So many executors."""
    made = Configuration(cores=cores, instances=count, allocation=AllocationSettings(instances=count))
    return replace(made, **{"registered_ratio": 1.0, **more})  # type: ignore[arg-type]


def dynamic(
    most: int | None = None, least: int = 0, cores: int = 1, service: bool = False, **more: object
) -> Configuration:
    """Executors as Spark wants them."""
    policy = DynamicAllocation(minimum=least, initial=least, maximum=most, tracking=not service)
    policy = replace(policy, **more)  # type: ignore[arg-type]
    allocation = AllocationSettings(dynamic=True, minimum=least, initial=least, maximum=most)
    return Configuration(cores=cores, dynamic=policy, allocation=allocation, shuffle_service=service)


def work_of(recording: Recording) -> tuple[Configuration, Workload]:
    """The recorded settings, and the work. Raises NotReplayable if there is nothing to replay."""
    found = understood(recording)
    return found.settings, found.work
