"""The time of tasks on executors of another size: a simple law, and the range by which it may be wrong.

The law: the time of garbage collection is inversely proportional to the heap per slot; everything else takes
as long as before. The range covers what is not known:

- garbage collection may not change at all, or by the square of this factor;
- tasks on one executor share its memory, caches and locks: their CPU time may grow by a tenth for each
  doubling of an executor's slots, or shrink by a tenth for each halving.

Neither number was measured: they show how much an answer depends on what a log cannot tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.workload import StageWork, Workload

MOST = 8.0
"""The largest factor by which garbage collection gets longer: with a larger one, tasks fail."""
SHARED = 0.1
"""The part of the CPU time that each doubling of the slots adds."""
RESERVED = 300
"""MiB of an executor's heap that Spark reserves (UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES)."""
MEMORY_FRACTION = 0.6
"""`spark.memory.fraction`: the part of the remaining heap for execution and storage."""


@dataclass(frozen=True, slots=True)
class Sized:
    """The work on executors of another size: by the law, and at both ends of its range."""

    work: Workload
    least: Workload
    most: Workload


def sized(work: Workload, recorded: Configuration, asked: Configuration) -> Sized | None:
    """The work with executors of the requested size; None if it is the recorded size."""
    heap = _heap(asked) / _heap(recorded)
    if heap == 1 and asked.slots == recorded.slots:
        return None
    collecting = [max(1 / MOST, min(MOST, heap**-power)) for power in (0, 1, 2)]
    shared = SHARED * math.log2(asked.slots / recorded.slots)
    return Sized(
        _scaled(work, collecting[1], 1.0),
        _scaled(work, min(collecting), max(0.5, 1 + min(0.0, shared))),
        _scaled(work, max(collecting), 1 + max(0.0, shared)),
    )


def _heap(settings: Configuration) -> float:
    """MiB of heap per slot."""
    return max(1, settings.memory) / settings.slots


def _scaled(work: Workload, collecting: float, computing: float) -> Workload:
    return replace(work, stages=tuple(_stage(stage, collecting, computing) for stage in work.stages))


def _stage(stage: StageWork, collecting: float, computing: float) -> StageWork:
    """The stage with the times of its garbage collection and CPU multiplied by these factors."""
    factor = 1 + stage.gc * (collecting - 1) + stage.cpu * (computing - 1)
    tasks = tuple(tuple(seconds * factor for seconds in attempts) for attempts in stage.tasks)
    return replace(stage, tasks=tasks)


def may_spill(peak: int, asked: Configuration) -> tuple[Remark, ...]:
    """A remark if tasks get less memory than the peak of one task. `peak`: in bytes, 0 if not known."""
    own = max(0.0, (asked.memory - RESERVED) * MEMORY_FRACTION / asked.slots)
    needed = peak / (1 << 20)
    if needed <= own:
        return ()
    return (
        Remark(
            RemarkCode.MAY_SPILL,
            f"tasks had up to {needed:.0f} MiB for execution and would have {own:.0f}: "
            "they may spill or fail",
        ),
    )
