"""What goes wrong at this moment. Everybody in the model asks here, and nobody decides it alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sparkgen.simulator.agenda import Agenda
from sparkgen.simulator.plan import Fault, Kind


@dataclass(slots=True)
class Weather:
    """The faults that hold now. A kind either holds for a time (`holds`) or a number of times (`takes`)."""

    agenda: Agenda
    note: Callable[[str, str], None]
    until: dict[Kind, float] = field(default_factory=dict)
    left: Counter[Kind] = field(default_factory=Counter)

    def begins(self, fault: Fault) -> None:
        """A fault begins."""
        self.until[fault.kind] = max(self.until.get(fault.kind, 0.0), self.agenda.now + fault.amount)
        self.left[fault.kind] += fault.count

    def calm(self) -> None:
        """From now on nothing goes wrong."""
        self.until.clear()
        self.left.clear()

    def holds(self, kind: Kind) -> bool:
        """Whether this is so now."""
        return self.agenda.now < self.until.get(kind, 0.0)

    def takes(self, kind: Kind) -> bool:
        """Whether this goes wrong now; then it goes wrong once less."""
        if self.left[kind] <= 0:
            return False
        self.left[kind] -= 1
        self.note("fault", kind.value)
        return True
