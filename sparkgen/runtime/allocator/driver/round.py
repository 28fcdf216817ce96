"""One round of the loop as a value: what was seen, what was wanted, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.protocol import Report
from sparkgen.runtime.allocator.values.decision import Decision
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import Settings
from sparkgen.runtime.allocator.values.target import Target


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop: what was seen, what was wanted, and what was decided at `now`."""

    now: float
    snapshot: Snapshot
    target: Target
    settings: Settings
    decision: Decision

    @property
    def report(self) -> Report:
        """What the driver is told after this round."""
        decision = self.decision
        return Report(decision.gone, decision.refuse, protocol.bounds(self.settings), decision.failure)
