"""The faults that are active now. All parts of the model ask this module, and none decides it itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.event_queue import EventQueue
from simulator.schedule import POOLS, STAYING, FaultKind, InjectedFault


@dataclass(slots=True)
class ActiveFaults:
    """The active faults. A kind is active either for a time (`holds`) or for a number of times (`takes`)."""

    event_queue: EventQueue
    note: Callable[[str, str], None]
    until: dict[FaultKind, float] = field(default_factory=dict)
    left: Counter[FaultKind] = field(default_factory=Counter)

    def begins(self, fault: InjectedFault) -> None:
        """Start a fault."""
        self.until[fault.kind] = max(self.until.get(fault.kind, 0.0), self.event_queue.now + fault.amount)
        self.left[fault.kind] += fault.count

    def calm(self) -> None:
        """End all faults, except those that stay: lost files, a need for memory, and a pool without nodes."""
        kept = {kind: self.left[kind] for kind in STAYING}
        self.until.clear()
        self.left.clear()
        self.left.update(kept)

    def holds(self, kind: FaultKind) -> bool:
        """Whether a fault of this kind is active for a time that has not passed."""
        return self.event_queue.now < self.until.get(kind, 0.0)

    def room(self) -> int | None:
        """The number of executors that the queue has room for now; None if there is no queue."""
        if self.holds(FaultKind.QUEUE_HOLDS):
            return 0
        return self.left[FaultKind.QUEUE] if self.holds(FaultKind.QUEUE) else None

    def short_pool(self) -> int | None:
        """The index of the pool of nodes that takes no pods now; None if all do."""
        if self.holds(FaultKind.POOL_SHORT):
            return (self.left[FaultKind.POOL_SHORT] - 1) % POOLS
        return self.left[FaultKind.POOL_DRY] - 1 if self.left[FaultKind.POOL_DRY] else None

    def takes(self, kind: FaultKind) -> bool:
        """Whether a fault of this kind happens now; if so, it happens one time fewer from now on."""
        if self.left[kind] <= 0:
            return False
        self.left[kind] -= 1
        self.note("fault", kind.value)
        return True
