"""The draft of a decision, which each step reads and extends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Action
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Loss


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft of a decision."""

    situation: Situation
    """The facts of the decision; its `memory` includes the changes of the steps so far."""
    jitter: float
    in_flight: int = 0
    """Writes that were sent before this decision and have not been answered."""
    actions: tuple[Action, ...] = ()
    gone: Mapping[int, Loss] = EMPTY_MAP

    @property
    def memory(self) -> AllocatorMemory:
        """The memory after the steps so far."""
        return self.situation.memory

    def remember(self, memory: AllocatorMemory) -> Draft:
        """Returns the draft with this memory."""
        return replace(self, situation=replace(self.situation, memory=memory))

    @property
    def slots(self) -> int:
        """How many more writes may be in flight now."""
        if self.situation.now < self.memory.rate.resume_at:
            return 0
        return max(0, self.memory.rate.window - self.in_flight - len(self.actions))


def writes_in_flight(memory: AllocatorMemory) -> int:
    """The number of creations and deletions that were sent and have not been answered."""
    creations = sum(1 for r in memory.requests.values() if r.accepted is None and r.retry_at is None)
    return creations + sum(1 for removal in memory.removals.values() if removal.open)
