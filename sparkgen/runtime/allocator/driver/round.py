"""One round of the loop as a value: snapshot, target and decision."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.protocol import DriverReport
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverTarget


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop, at `now`: the snapshot, the driver's target, the settings and the decision."""

    now: float
    snapshot: Snapshot
    target: DriverTarget
    settings: AllocationSettings
    decision: AllocationDecision

    @property
    def report(self) -> DriverReport:
        """The report to the driver after this round."""
        decision, settings = self.decision, self.settings
        bounds = protocol.bounds(settings)
        report = DriverReport(decision.gone, decision.refuse, bounds, decision.failure, hold=settings.hold)
        if not settings.locality:
            return report
        nodes = protocol.nodes(self.snapshot.executors.values())
        return replace(report, nodes=nodes, data_hosts=settings.data_hosts)
