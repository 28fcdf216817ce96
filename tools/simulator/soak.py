"""Plays any number of schedules on all cores; reports broken invariants at once, and then shrinks some."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from simulator.files import file_schedule_of
from simulator.gangs import gang_schedule_of
from simulator.memory import memory_schedule_of
from simulator.pools import pool_schedule_of
from simulator.run import Result, run
from simulator.schedule import Schedule, schedule_of, session_schedule_of
from simulator.shrink import shrunk

CHUNK = 100
"""Schedules that one process plays before it reports their results."""
SHOWN = 3
"""The most schedules with a broken invariant that are shrunk and shown."""
TELL_EVERY = 5.0
"""Seconds between two lines about the progress."""


@dataclass(frozen=True, slots=True)
class FailedSchedule:
    """A schedule that broke an invariant."""

    seed: int
    invariant: str
    text: str

    def __str__(self) -> str:
        return f"seed {self.seed} breaks {self.invariant}: {self.text}"


Plan = Literal["plain", "sessions", "gangs", "files", "memory", "pools"]
"""The sort of schedules: one driver, drivers that come and go, executors that are useful only together,
files that executors wait for or cannot get, executors with too little memory, or pools of nodes."""
PLANS: Mapping[Plan, Callable[..., Schedule]] = {
    "plain": schedule_of,
    "sessions": session_schedule_of,
    "gangs": gang_schedule_of,
    "files": file_schedule_of,
    "memory": memory_schedule_of,
    "pools": pool_schedule_of,
}
"""The function that makes the schedule of a seed, and of kinds of faults that it should have more of."""


def played(seeds: Iterable[int], plan: Plan = "plain") -> list[FailedSchedule]:
    """Play the schedules of these seeds. Returns those that broke an invariant."""
    results = (run(PLANS[plan](seed)) for seed in seeds)
    return [
        FailedSchedule(r.schedule.seed, r.broken.invariant, r.broken.text)
        for r in results
        if r.broken is not None
    ]


def smallest(seed: int, plan: Plan = "plain") -> Result:
    """The result of the shrunk schedule of a seed that breaks an invariant, with the allocator's log."""
    first = run(PLANS[plan](seed))
    if first.broken is None:
        return first
    invariant = first.broken.invariant

    def breaks(schedule: Schedule) -> bool:
        broken = run(schedule).broken
        return broken is not None and broken.invariant == invariant

    return run(shrunk(first.schedule, breaks), verbose=True)


def report_text(result: Result, plan: Plan = "plain") -> Iterator[str]:
    """The lines of the report about a schedule, with its timeline."""
    schedule = result.schedule
    parts = f"{len(schedule.faults)} faults, {len(schedule.target_changes)} changes of the target"
    yield f"seed {schedule.seed}: {parts}, no faults after {schedule.calm_at:.1f} s"
    for entry in result.timeline:
        yield str(entry)
    verdict = "every invariant holds" if result.broken is None else f"broken: {result.broken.invariant}"
    of = "" if plan == "plain" else f" {plan.upper()}=1"
    yield f"seed {schedule.seed}: {verdict} (replay: make replay SEED={schedule.seed}{of})"


def soak(count: int, first: int, jobs: int, tell: Callable[[str], None], plan: Plan = "plain") -> int:
    """Play `count` schedules from the seed `first` on. Returns the exit code."""
    began = told = time.monotonic()
    seeds = range(first, first + count)
    chunks = [seeds[start : start + CHUNK] for start in range(0, count, CHUNK)]
    done, failures = 0, list[FailedSchedule]()
    with multiprocessing.Pool(jobs) as pool:
        for chunk, found in zip(chunks, pool.imap(partial(played, plan=plan), chunks), strict=True):
            done += len(chunk)
            failures += found
            for failure in found:
                tell(str(failure))
            if time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                rate = done / (told - began)
                tell(
                    f"{done} of {count} schedules, {rate:.0f} per second, {len(failures)} broke an invariant"
                )
    seconds = time.monotonic() - began
    for failure in failures[:SHOWN]:
        tell(f"\nshrinking seed {failure.seed} ...")
        for line in report_text(smallest(failure.seed, plan), plan):
            tell(line)
    tell(
        f"seeds {seeds.start} to {seeds.stop - 1}: {count} schedules in {seconds:.0f} s "
        f"({count / seconds:.0f} per second), {len(failures)} broke an invariant"
    )
    return 1 if failures else 0
