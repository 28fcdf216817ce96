"""The core of the allocator: `decide` computes what to do now, without doing it.

`decide` is a pure function of what the cluster shows, what the driver wants and what the allocator remembers.
Its docstring has the states of executors, and the steps of a decision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from sparkgen.runtime.allocator.decide import executor_states, gates, pacing, pools, reasons
from sparkgen.runtime.allocator.decide.creations import creations, when_to_create
from sparkgen.runtime.allocator.decide.draft import Draft, writes_in_flight
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.decide.losses import limits, losses, reported_losses
from sparkgen.runtime.allocator.decide.memory_recovery import memory_recovery
from sparkgen.runtime.allocator.decide.prune_memory import prune_memory, when_to_forget
from sparkgen.runtime.allocator.decide.removals import excess, removals, when_to_remove
from sparkgen.runtime.allocator.values.actions import Action, Create
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

IN_ORDER = tuple(sorted(ExecutorState, key=lambda state: state.value))
STEPS: tuple[Callable[[Draft], Draft], ...] = (
    *(losses, reported_losses, pools.pools, removals, excess, limits, memory_recovery),
    creations,
)
"""The steps of a decision, in their order: `decide` describes them."""


def decide(
    snapshot: Snapshot,
    target: DriverTarget,
    memory: AllocatorMemory,
    settings: AllocationSettings,
    now: float,
    jitter: float = 0.5,
) -> AllocationDecision:
    """Returns what to do at `now`, and what to remember for the next decision.

    The loop calls it in every round. It compares how many executors there should be with those that there
    are, so it never depends on having seen an event: a decision that got lost is simply made again.

    Each executor id is in exactly one state (`ExecutorState`, computed by executor_states.py):

    ==========  ===========================================================================================
    planned     this decision creates it; its request has not been sent
    requested   the request has been sent, and the cluster has not shown its pod yet
    pending     its pod exists, but does not run: it waits for a queue, a node, an image or a volume
    running     its pod runs, but its JVM has not registered with the driver
    registered  Spark gives it tasks
    draining    it is leaving: Spark removed or decommissions it, or its pod is being deleted
    gone        its pod has ended or no longer exists
    ==========  ===========================================================================================

    Executors that are requested, pending, running or registered are *active*. They count towards the number
    that the driver wants of their resource profile; draining ones do not, because Spark gives them no tasks.

    The steps, each of which takes a draft of the decision and returns it with its own part added:

    1. `prune_memory` forgets requests and removals that the snapshot confirms, and begins anew for a driver
       that has restarted.
    2. `situation` puts each executor in its state.
    3. `losses` finds out why executors have ended, and counts those that failed.
    4. `reported_losses` tells the driver about each gone executor that it still names.
    5. `pools` pauses pools of nodes that give executors no nodes, or that lose nodes often.
    6. `removals` deletes pods that have to go whatever the driver wants: those that Spark removed, those of
       an earlier driver, and those that do not start or register in time. It repeats deletions that have no
       effect, then forces them.
    7. `excess` gives up executors that are more than wanted. It never takes a registered one: Spark chooses
       these, because they hold data and run tasks.
    8. `limits` ends the application if too many executors failed, or if no executor can ever start.
    9. `memory_recovery` gives the next executors more memory if one was killed for lack of it.
    10. `creations` creates what is missing, within the reviewed maximum, the gates and the pace.
    11. `publish` adds what the driver, waiting executors and people are told, and when to decide again.

    No step concludes from an incomplete snapshot that an executor is gone. The request for it may have been
    carried out although the snapshot does not show its pod yet.

    `now` is in seconds of the clock that all times in `snapshot`, `target` and `memory` come from. `jitter`,
    from 0 to 1, makes pauses longer or shorter, so that many allocators do not repeat a call at one moment.
    """
    memory = prune_memory(snapshot, target, memory, settings, now)
    situation = executor_states.situation(snapshot, target, memory, settings, now)
    draft = Draft(situation, jitter, writes_in_flight(memory))
    for step in STEPS:
        draft = step(draft)
    return publish(draft)


def publish(draft: Draft) -> AllocationDecision:
    """Returns the decision of a draft, with what the driver, executors and people are told."""
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
    # An executor that an earlier driver requested may still come up, and must not ask this driver for tasks.
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
    """Yields every time at which the decision may change although nothing has happened.

    `situation` has the memory after the actions. Each module names the times of its own conditions.
    """
    if situation.target.gives_up_at is not None:
        yield situation.target.gives_up_at
    yield from when_to_forget(situation.memory)
    yield from when_to_remove(situation)
    yield from when_to_create(situation)
    yield from pacing.when_more(situation)
    yield from pools.when_to_judge(situation)
