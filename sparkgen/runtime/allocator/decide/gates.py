"""The gates: how many more executors of each resource profile may be requested or pending. Pure.

    maxPendingPods        requested or pending at one time, all profiles together; no limit if left out
    maxUnschedulablePods  without a node, because the scheduler has found none or has not looked yet, or
                          because a queue holds them back
    waitForRegistration   Spark's classic rule: no next batch before all of the last one have registered

The first two count what the cluster shows and what was requested, never what the driver reports: user code
can report in the driver's place, and could call pods registered that wait for a node. Every gate is shared: a
profile whose pods cannot be scheduled does not keep the others from starting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide import gangs
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Action, Create
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.observed import ExecutorState, ObservedExecutor, PodPhase


def on_their_way(situation: Situation) -> Counter[int]:
    """How many executors are requested or pending, per profile, whatever the driver reports about them."""
    return _requested(situation) + Counter(seen.profile for seen in _pending_pods(situation))


def without_node(situation: Situation) -> Counter[int]:
    """How many executors have no node yet, per profile, whatever the driver reports about them.

    Pods that the scheduler has not looked at yet count like unschedulable ones, because they may turn out to
    be unschedulable. So do pods that wait in a queue, because the whole target would be created otherwise.
    Pods that are being deleted do not count.
    """
    pods = (seen for seen in _pending_pods(situation) if not seen.node)
    return _requested(situation) + Counter(seen.profile for seen in pods)


def _requested(situation: Situation) -> Counter[int]:
    """How many executors were requested and are not shown by the cluster yet, per profile."""
    shown, requests = situation.snapshot.executors.keys(), situation.memory.requests
    return Counter(requests[id_].profile for id_ in requests.keys() - shown)


def _pending_pods(situation: Situation) -> Iterator[ObservedExecutor]:
    for seen in situation.snapshot.executors.values():
        if seen.phase is PodPhase.PENDING and not seen.deleting:
            yield seen


def unregistered(situation: Situation) -> Counter[int]:
    """How many executors have not registered with Spark yet, per profile."""
    counts = situation.counts
    return counts[ExecutorState.REQUESTED] + counts[ExecutorState.PENDING] + counts[ExecutorState.RUNNING]


def batches(situation: Situation, missing: Mapping[int, int]) -> Mapping[int, int]:
    """How many executors of its batch each profile may still create (`wait_for_registration`).

    A batch may begin when every executor of the profile has registered, or is gone. It has `batch_size`
    executors, or as many as are missing when it begins.
    """
    settings = situation.settings
    if not settings.wait_for_registration:
        return missing
    waiting = unregistered(situation)
    return {
        profile: situation.memory.batches.get(profile, 0)
        if waiting[profile]
        else settings.batch_size or count
        for profile, count in missing.items()
    }


def remaining(situation: Situation, before: Mapping[int, int], created: Counter[int]) -> Mapping[int, int]:
    """What is left of the batches after these creations. A batch begins with its first creation."""
    if not situation.settings.wait_for_registration:
        return EMPTY_MAP
    begun = unregistered(situation) + created
    left = {profile: count - created[profile] for profile, count in before.items() if begun[profile]}
    return {profile: count for profile, count in left.items() if count > 0}


def shares(situation: Situation, missing: Mapping[int, int], left: Mapping[int, int]) -> dict[int, int]:
    """How many executors each profile may create now, within all gates.

    `missing`: how many the profile lacks; `left`: how many are left of its batch.
    """
    pending, nodes, gang = _pending(situation, missing), _nodes(situation, missing), _of_gang(situation)
    return {
        profile: min(count, max(min(pending[profile], nodes[profile], left[profile]), gang[profile]))
        for profile, count in missing.items()
    }


def _of_gang(situation: Situation) -> Counter[int]:
    """How many members the gang lacks. Shares and batches do not hold back members that others wait for."""
    lacking = gangs.lacking(situation)
    if not lacking:
        return Counter()
    return Counter({0: min(lacking, situation.settings.max_unschedulable - without_node(situation)[0])})


def _pending(situation: Situation, missing: Mapping[int, int]) -> Mapping[int, int]:
    """The limit of `max_pending`: an equal share for each profile that lacks executors."""
    most = situation.settings.max_pending
    if most is None:
        return missing
    waiting = on_their_way(situation)
    share = max(1, most // max(1, len(missing)))
    return {profile: share - waiting[profile] for profile in missing}


def _nodes(situation: Situation, missing: Mapping[int, int]) -> Mapping[int, int]:
    """The limit of `max_unschedulable`: an equal share for each profile with missing or unplaced executors.

    A profile that came later gets its share even if the others have used all places, and always at least one
    place: the others' pods may never get a node, and its own may get one at once.
    """
    waiting = without_node(situation)
    share = situation.settings.max_unschedulable // max(1, len(missing.keys() | waiting.keys()))
    return {profile: max(share, 1) - waiting[profile] for profile in missing}


def closed(situation: Situation, actions: Sequence[Action]) -> dict[str, Hindrance]:
    """The gates that hold executors back after `actions`, by the field's name."""
    created = Counter(a.profile for a in actions if isinstance(a, Create) and not a.again)
    missing = Counter(situation.wanted())
    missing.subtract(situation.active() + created)
    lacking = {profile: count for profile, count in missing.items() if count > 0}
    if not lacking:
        return {}
    return _full(situation, lacking) | _unfinished(situation, created, lacking)


def _full(situation: Situation, lacking: Mapping[int, int]) -> dict[str, Hindrance]:
    shares = _nodes(situation, lacking)  # what the actions create counts as requested already
    held = sorted(profile for profile in lacking if shares[profile] <= 0)
    if not held:
        return {}
    count = without_node(situation).total()
    have = "has" if count == 1 else "have"
    whose = f" of profile {', '.join(map(str, held))}" if len(situation.wanted()) > 1 else ""
    field = "maxUnschedulablePods"
    queued = sum(seen.queued for seen in _pending_pods(situation))
    where = f" ({queued} in the queue)" if queued else ""
    text = (
        f"{count} {have} no node{where}, and no more{whose} are created until one gets a node "
        f"(spec.allocation.{field} is {situation.settings.max_unschedulable})"
    )
    return {field: Hindrance(Code.MAX_UNSCHEDULABLE_PODS, text)}


def _unfinished(
    situation: Situation, created: Counter[int], lacking: Mapping[int, int]
) -> dict[str, Hindrance]:
    waiting, left = unregistered(situation) + created, situation.memory.batches
    more = sum(waiting[profile] for profile in lacking if not left.get(profile))
    if not (more and situation.settings.wait_for_registration):
        return {}
    have, field = "has" if more == 1 else "have", "waitForRegistration"
    text = f"the next batch starts when {more} more {have} registered (spec.allocation.{field})"
    return {field: Hindrance(Code.WAIT_FOR_REGISTRATION, text)}
