"""The result of a decision: what to do, why, and what to remember."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.actions import Action
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState, Loss


@dataclass(frozen=True, slots=True)
class AllocationDecision:
    """What to do, why, and what to remember.

    `reason`: the whole decision in one line. `gone` and `refuse`: executors that the driver is told are gone,
    or must refuse. `counts`: the number of executors in each state, per resource profile.
    `wake_at`: when to decide again if nothing happens before.
    """

    memory: AllocatorMemory
    reason: str
    actions: tuple[Action, ...] = ()
    gone: Mapping[int, Loss] = EMPTY_MAP
    refuse: frozenset[int] = frozenset()
    start: frozenset[int] = frozenset()
    """Executors that may start their JVM."""
    failure: Hindrance | None = None
    hindrances: tuple[Hindrance, ...] = ()
    """What keeps executors from starting, the most serious first."""
    counts: Mapping[int, Mapping[ExecutorState, int]] = EMPTY_MAP
    held: tuple[str, ...] = ()
    """The gates that hold executors back, by their field names in `spec.allocation`."""
    wake_at: float | None = None
