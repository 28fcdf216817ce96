"""The status of a run: a value that views draw, made from the allocator's decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.observed import ExecutorState

SHOWN = (
    ExecutorState.REGISTERED,
    ExecutorState.RUNNING,
    ExecutorState.PENDING,
    ExecutorState.REQUESTED,
    ExecutorState.PLANNED,
    ExecutorState.DRAINING,
)
"""The states that a view counts, the most important first."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of the application, as its UI counts them."""

    active: int
    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a run at one time: executors by state, how many are wanted, and the decision in words."""

    counts: Mapping[ExecutorState, int]
    wanted: int
    reason: str

    @property
    def present(self) -> int:
        """The number of executors that exist or are requested, without those that are leaving."""
        return sum(
            count
            for state, count in self.counts.items()
            if state in SHOWN and state is not ExecutorState.DRAINING
        )


def status(decision: AllocationDecision, wanted: Mapping[int, int]) -> Status:
    """The status after a decision; `wanted` per resource profile."""
    counts: Counter[ExecutorState] = Counter()
    for profile in decision.counts.values():
        counts.update(profile)
    return Status(dict(counts), sum(wanted.values()), decision.reason)


def sentence(now: Status) -> str:
    """Executors and target in one line: `3 of 4 executors (2 registered, 1 running)`."""
    parts = [f"{now.counts[state]} {state.value}" for state in SHOWN if now.counts.get(state)]
    return f"{now.present} of {now.wanted} executors" + (f" ({', '.join(parts)})" if parts else "")
