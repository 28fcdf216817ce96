"""What goes wrong at this moment. Everybody in the model asks here, and nobody decides it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from simulator.event_queue import EventQueue
from simulator.schedule import FaultKind, InjectedFault


@dataclass(slots=True)
class ActiveFaults:
    """The faults that hold now. A kind either holds for a time (`holds`) or a number of times (`takes`)."""

    event_queue: EventQueue
    note: Callable[[str, str], None]
    until: dict[FaultKind, float] = field(default_factory=dict)
    left: Counter[FaultKind] = field(default_factory=Counter)

    def begins(self, fault: InjectedFault) -> None:
        """A fault begins."""
        self.until[fault.kind] = max(self.until.get(fault.kind, 0.0), self.event_queue.now + fault.amount)
        self.left[fault.kind] += fault.count

    def calm(self) -> None:
        """From now on nothing goes wrong; files that are gone for good stay so."""
        gone = self.left[FaultKind.NO_FILES]
        self.until.clear()
        self.left.clear()
        self.left[FaultKind.NO_FILES] = gone

    def holds(self, kind: FaultKind) -> bool:
        """Whether this is so now."""
        return self.event_queue.now < self.until.get(kind, 0.0)

    def room(self) -> int | None:
        """For how many executors the queue has room now; None where there is no queue."""
        if self.holds(FaultKind.QUEUE_HOLDS):
            return 0
        return self.left[FaultKind.QUEUE] if self.holds(FaultKind.QUEUE) else None

    def takes(self, kind: FaultKind) -> bool:
        """Whether this goes wrong now; then it goes wrong once less."""
        if self.left[kind] <= 0:
            return False
        self.left[kind] -= 1
        self.note("fault", kind.value)
        return True
