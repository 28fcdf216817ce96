"""What to do now: a pure function of what is seen, wanted and remembered. It is the heart of the allocator.

The steps run in the order of `STEPS`; each takes a draft and returns one with its own part done. Nothing is
concluded from an incomplete snapshot: an executor that it does not show may well be there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from sparkgen.runtime.allocator.decide import executor_states, gates, pacing, reasons
from sparkgen.runtime.allocator.decide.creations import creations, when_to_create
from sparkgen.runtime.allocator.decide.draft import Draft, writes_in_flight
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.decide.losses import limits, losses, reported_losses
from sparkgen.runtime.allocator.decide.prune_memory import prune_memory, when_to_forget
from sparkgen.runtime.allocator.decide.removals import excess, removals, when_to_remove
from sparkgen.runtime.allocator.values.actions import Action, Create
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

IN_ORDER = tuple(sorted(ExecutorState, key=lambda state: state.value))
STEPS: tuple[Callable[[Draft], Draft], ...] = (losses, reported_losses, removals, excess, limits, creations)
"""In this order: what has ended is told, what has to go goes, and what is missing comes last."""


def decide(
    snapshot: Snapshot,
    target: DriverTarget,
    memory: AllocatorMemory,
    settings: AllocationSettings,
    now: float,
    jitter: float = 0.5,
) -> AllocationDecision:
    """What to do at `now`, and what to remember. `jitter` (0 to 1) spreads pauses."""
    memory = prune_memory(snapshot, target, memory, settings, now)
    situation = executor_states.situation(snapshot, target, memory, settings, now)
    draft = Draft(situation, jitter, writes_in_flight(memory))
    for step in STEPS:
        draft = step(draft)
    return publish(draft)


def publish(draft: Draft) -> AllocationDecision:
    """The decision, with what the driver, executors and people are told."""
    situation, memory = draft.situation, draft.memory
    refuse = (memory.refusing | memory.removals.keys()) - situation.target.registered - draft.gone.keys()
    held = gates.closed(situation, draft.actions)
    hindrances = reasons.hindrances(situation, held.values())
    return AllocationDecision(
        memory=memory,
        reason=reasons.decision(situation, draft.actions, hindrances),
        hindrances=tuple(hindrance for _, hindrance in hindrances),
        held=tuple(held),
        actions=draft.actions,
        gone=draft.gone,
        refuse=frozenset(refuse),
        start=_may_start(situation, memory),
        failure=memory.failure,
        counts=_counts(situation, draft.actions),
        wake_at=min((time for time in wake_ups(situation) if time > situation.now), default=None),
    )


def _may_start(situation: Situation, memory: AllocatorMemory) -> frozenset[int]:
    if situation.target.phase is not DriverPhase.RUNNING or situation.target.away:
        return frozenset()
    # One that was asked for by an earlier driver may come yet: it would ask this one for its tasks.
    asked_for = {id_ for id_ in memory.requests if id_ >= memory.first_id}
    coming = situation.those(*executor_states.ACTIVE) | asked_for
    return frozenset(coming - memory.removals.keys() - situation.target.refused)


def _counts(situation: Situation, actions: Iterable[Action]) -> dict[int, dict[ExecutorState, int]]:
    result: dict[int, dict[ExecutorState, int]] = {profile: {} for profile in situation.wanted()}
    planned = Counter(a.profile for a in actions if isinstance(a, Create) and not a.again)
    for state in IN_ORDER:
        for profile, count in (
            planned if state is ExecutorState.PLANNED else situation.counts[state]
        ).items():
            result.setdefault(profile, {})[state] = count
    return result


def wake_ups(situation: Situation) -> Iterator[float]:
    """Every time at which a decision may be another one, though nothing has happened.

    `situation` has the memory after the actions. Each module names the times of its own conditions.
    """
    if situation.target.gives_up_at is not None:
        yield situation.target.gives_up_at
    yield from when_to_forget(situation.memory)
    yield from when_to_remove(situation)
    yield from when_to_create(situation)
    yield from pacing.when_more(situation)
