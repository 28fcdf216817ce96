"""Which executors to delete, and how: once, again if the request got lost, by force if it has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sparkgen.runtime.allocator.decide import executor_states, gangs, pools, reasons
from sparkgen.runtime.allocator.decide.apply_outcomes import next_backoff
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Delete
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest, DeleteRequest
from sparkgen.runtime.allocator.values.observed import ExecutorState, ObservedExecutor, PodPhase
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase

PERMANENT_PATIENCE = 45.0
"""Seconds that an image may fail to be pulled; the kubelet tries three times in them."""
LOST_PATIENCE = 20.0
"""Seconds until an executor that Spark lost is deleted although its pod seems healthy; the driver waits
less."""
FORCE_MARGIN = 30.0
"""Seconds beyond the pod's grace period until a deletion is forced, because the node does not answer."""


def removals(draft: Draft) -> Draft:
    """Delete what has to go whatever the target is; again or by force if a deletion has no effect."""
    marked: dict[int, DeleteRequest] = {}
    useless = {
        **dict.fromkeys(pools.without_node(draft.situation), pools.NO_NODE),
        **dict.fromkeys(gangs.stranded(draft.situation), gangs.STRANDED),
    }
    for seen in _may_have_to_go(draft):
        if _is_under_way(draft, seen.id) or not (draft.slots or seen.deleting):
            continue
        why = useless.get(seen.id) or _reason_to_remove(seen, draft)
        if why and seen.deleting and seen.id not in draft.memory.removals:
            # Deleted by somebody else, or by this allocator before it restarted.
            marked[seen.id] = DeleteRequest(draft.situation.now, open=False, why=why)
        elif why:
            draft = _remove(draft, seen.id, seen.uid, why)
    if marked:
        memory = replace(draft.memory, removals={**draft.memory.removals, **marked})
        draft = draft.remember(memory)
    for id_, request in sorted(draft.memory.requests.items()):
        if request.accepted is None or id_ in draft.situation.target.registered:
            continue
        why = _reason_to_give_up(id_, request, draft)
        if why and not _is_under_way(draft, id_):
            draft = _remove(draft, id_, "", why)
    return draft


def _reason_to_give_up(id_: int, request: CreateRequest, draft: Draft) -> str:
    """Why a created executor that the cluster does not show has to go; "" if it may stay."""
    situation = draft.situation
    if id_ < draft.memory.first_id:
        return "left by an earlier driver"
    if _never_seen(id_, request, situation):
        may_register = id_ in situation.snapshot.started and id_ not in situation.target.refused
        return "" if may_register else "created, but its pod never appeared"
    return "more than Spark wants" if id_ in situation.target.refused else ""


def _may_have_to_go(draft: Draft) -> Iterator[ObservedExecutor]:
    """The shown executors that may have to go, by id; without the many that are registered and healthy."""
    situation, executors = draft.situation, draft.situation.snapshot.executors
    if situation.target.phase is DriverPhase.STOPPED:
        return (executors[id_] for id_ in sorted(executors))
    ids = {
        *situation.those(ExecutorState.GONE, ExecutorState.DRAINING, ExecutorState.PENDING),
        *draft.memory.lost_at,
    }
    return (executors[id_] for id_ in sorted(ids & executors.keys()))


def _is_under_way(draft: Draft, id_: int) -> bool:
    """Whether a deletion was sent and needs no further one now, or none can be sent yet."""
    now, earlier = draft.situation.now, draft.memory.removals.get(id_)
    if earlier is None:
        return False
    if earlier.open or (earlier.retry_at or 0.0) > now:
        return True
    overdue = now >= earlier.began + draft.situation.settings.grace + FORCE_MARGIN
    return earlier.retry_at is None and (earlier.forced or not overdue)


def _reason_to_remove(seen: ObservedExecutor, draft: Draft) -> str:
    """Why this executor's pod has to go; "" if it may stay."""
    situation, memory, settings = draft.situation, draft.memory, draft.situation.settings
    if situation.target.phase is DriverPhase.STOPPED:
        return f"no longer needed, because {reasons.stopped(situation.target)}"
    if executor_states.ended(seen):  # its pod is kept until the driver has read the reason
        return "" if seen.id in draft.gone else "ended"
    if seen.id in situation.target.kills:
        return "removed by Spark"
    if seen.id < memory.first_id:
        return "left by an earlier driver"
    if seen.id in situation.target.refused - situation.target.registered:
        late = _had_time_to_register(seen, memory, situation)
        return "running, but never registered" if late else "more than Spark wants"
    if situation.now >= memory.lost_at.get(seen.id, situation.now) + LOST_PATIENCE:
        return "lost by Spark"
    if seen.id in situation.target.registered:
        return ""
    if seen.phase is PodPhase.PENDING and _pending_too_long(seen, settings, situation.now):
        return "unable to start" if seen.waiting and seen.waiting.permanent else "pending for too long"
    return ""


def _had_time_to_register(seen: ObservedExecutor, memory: AllocatorMemory, situation: Situation) -> bool:
    """Whether an executor has run long enough, with a driver that could have registered it."""
    if seen.phase is not PodPhase.RUNNING or memory.speaking_since is None:
        return False
    return situation.now >= max(seen.since, memory.speaking_since) + situation.settings.executor_timeout


def _never_seen(id_: int, request: CreateRequest, situation: Situation) -> bool:
    """Whether an executor was created long ago, and the cluster has never shown it."""
    if request.accepted is None or id_ in situation.snapshot.executors or not situation.snapshot.complete:
        return False
    return situation.now >= request.accepted + situation.settings.executor_timeout


def _overdue(situation: Situation, memory: AllocatorMemory) -> Iterator[int]:
    """Executors that may register at any moment, and should have registered long ago."""
    for id_ in situation.ids(ExecutorState.RUNNING):
        if _had_time_to_register(situation.snapshot.executors[id_], memory, situation):
            yield id_
    for id_, request in memory.requests.items():
        if id_ in situation.snapshot.started and _never_seen(id_, request, situation):
            yield id_


def _pending_too_long(seen: ObservedExecutor, settings: AllocationSettings, now: float) -> bool:
    if seen.queued:  # for as long as it takes: another one would begin at the end of the queue
        return False
    if seen.waiting is not None and seen.waiting.permanent and now >= seen.since + PERMANENT_PATIENCE:
        return True
    return settings.pending_timeout is not None and now >= seen.since + settings.pending_timeout


def _remove(draft: Draft, id_: int, uid: str, why: str) -> Draft:
    """Send a deletion; by force if an earlier one was accepted and has had no effect."""
    earlier = draft.memory.removals.get(id_)
    if not draft.slots:
        return draft
    if earlier is None:
        draft = _count_bad_start(draft, draft.situation.snapshot.executors.get(id_))
    forced = earlier is not None and (earlier.forced or earlier.retry_at is None)
    memory = _with_removal(draft.memory, id_, DeleteRequest(draft.situation.now, forced, why=why))
    return replace(draft.remember(memory), actions=(*draft.actions, Delete(id_, uid, forced, why)))


def _with_removal(memory: AllocatorMemory, id_: int, removal: DeleteRequest) -> AllocatorMemory:
    return replace(memory, removals={**memory.removals, id_: removal})


def _count_bad_start(draft: Draft, seen: ObservedExecutor | None) -> Draft:
    """Count a pod that is given up before it ever ran as a failure, and pause before the next creation."""
    waited = seen is not None and seen.phase is PodPhase.PENDING
    if (
        seen is None
        or not waited
        or not _pending_too_long(seen, draft.situation.settings, draft.situation.now)
    ):
        return draft
    permanent = seen.waiting is not None and seen.waiting.permanent
    reason = reasons.waiting(seen)
    memory, now = draft.memory, draft.situation.now
    paused = next_backoff(memory.bad_starts, reason, now, draft.jitter, permanent=permanent)
    # One node that cannot start executors is not the application's fault while other executors run.
    failures = memory.failures if draft.situation.target.registered else (*memory.failures, now)
    return draft.remember(replace(memory, failures=failures, bad_starts=paused))


def excess(draft: Draft) -> Draft:
    """Give up more executors than wanted: queued ones first, then requested, pending and running ones.

    The newest goes first. Only Spark removes a registered executor. An executor that may be about to register
    is first refused, and deleted when the driver has confirmed the refusal; so is one that should have
    registered long ago.
    """
    situation, memory = draft.situation, draft.memory
    if situation.target.phase is DriverPhase.STOPPED or situation.awaited:
        return draft
    surplus = situation.active()
    surplus.subtract(situation.wanted())
    any_surplus = any(count > 0 for count in surplus.values())
    # A refusal is never taken back: a driver that may have read it would never admit that executor.
    refusing = {*_overdue(situation, memory), *memory.refusing} - situation.target.registered
    for id_ in _first_to_go(situation) if any_surplus else ():
        profile = situation.profiles[id_]
        if surplus[profile] <= 0:
            continue
        surplus[profile] -= 1
        if id_ in situation.sets[ExecutorState.RUNNING] or id_ in situation.snapshot.started:
            refusing.add(id_)
        elif id_ in memory.requests and memory.requests[id_].retry_at is not None:
            draft = _forget(draft, id_)
        elif id_ not in memory.requests or memory.requests[id_].accepted is not None:
            seen = situation.snapshot.executors.get(id_)
            if not _is_under_way(draft, id_):
                draft = _remove(draft, id_, seen.uid if seen else "", "more than Spark wants")
    if refusing == draft.memory.refusing:
        return draft
    return draft.remember(replace(draft.memory, refusing=frozenset(refusing)))


def _forget(draft: Draft, id_: int) -> Draft:
    """Forget a request instead of repeating it. If its pod was created all the same, it will be surplus."""
    requests = {other: request for other, request in draft.memory.requests.items() if other != id_}
    return draft.remember(replace(draft.memory, requests=requests))


def _first_to_go(situation: Situation) -> Iterator[int]:
    queued = {seen.id for seen in situation.observed(ExecutorState.PENDING) if seen.queued}
    yield from sorted(queued, reverse=True)
    for state in (ExecutorState.REQUESTED, ExecutorState.PENDING, ExecutorState.RUNNING):
        yield from (id_ for id_ in reversed(situation.ids(state)) if id_ not in queued)


def when_to_remove(situation: Situation) -> Iterator[float]:
    """The times at which an executor runs out of time, or a deletion is sent again."""
    memory, settings = situation.memory, situation.settings
    for request in memory.requests.values():
        if request.accepted is not None:
            yield request.accepted + settings.executor_timeout
    for removal in memory.removals.values():
        yield removal.retry_at or removal.began + settings.grace + FORCE_MARGIN
    for lost_at in memory.lost_at.values():
        yield lost_at + LOST_PATIENCE
    for seen in situation.observed(ExecutorState.RUNNING):
        yield max(seen.since, memory.speaking_since or 0.0) + settings.executor_timeout
    for seen in situation.observed(ExecutorState.PENDING):
        if seen.waiting and seen.waiting.permanent:
            yield seen.since + PERMANENT_PATIENCE
        if settings.pending_timeout is not None and not seen.queued:
            yield seen.since + settings.pending_timeout
