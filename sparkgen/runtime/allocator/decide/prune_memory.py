"""Compares the memory with the snapshot: forgets what the snapshot confirms, and adds what is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.values.attempt import HIGHEST_FOUND_ID
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Backoff, CreateRequest, DeleteRequest
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

SHOWN_WITHIN = 120.0
"""Seconds after which a pod that is gone is not shown any more: a silent watch is reopened before that."""


def prune_memory(
    snapshot: Snapshot,
    target: DriverTarget,
    memory: AllocatorMemory,
    settings: AllocationSettings,
    now: float,
) -> AllocatorMemory:
    """Returns the memory without what the snapshot confirms, and with what is new in snapshot and target."""
    memory = _new_session(target, memory)
    named = executor_states.named_by_driver(target)
    ids = {*snapshot.executors, *named, *memory.requests}
    found = max((id_ for id_ in ids if id_ <= HIGHEST_FOUND_ID), default=0)
    requests = {id_: r for id_, r in memory.requests.items() if not _answered(id_, r, snapshot)}
    deleted = {id_ for id_, r in memory.removals.items() if _long_deleted(id_, r, snapshot, now)}
    requests = {id_: r for id_, r in requests.items() if id_ not in deleted}
    there = set(snapshot.executors) if snapshot.complete else ids | set(memory.removals) | memory.known
    there |= set(requests)
    speaks = target.phase is DriverPhase.RUNNING
    since = memory.speaking_since
    return replace(
        memory,
        next_id=max(memory.next_id, found + 1),
        requests=requests,
        removals={
            id_: r for id_, r in memory.removals.items() if id_ in there and not _ignored(id_, r, snapshot)
        },
        known=(memory.known & there) | named,
        lost_at={id_: memory.lost_at.get(id_, now) for id_ in (target.lost | set(memory.lost_at)) & there},
        losses={
            id_: loss
            for id_, loss in memory.losses.items()
            if id_ in there or id_ in named or id_ in snapshot.vanished
        },
        refusing=memory.refusing & there - target.registered,
        speaking_since=None if target.away or not speaks else now if since is None else since,
        most_wanted=max([memory.most_wanted, *executor_states.wanted(target, settings).values()]),
        unusable={node: until for node, until in memory.unusable.items() if until > now},
        bad_starts=Backoff() if speaks and target.registered - memory.known else memory.bad_starts,
    )


def _new_session(target: DriverTarget, memory: AllocatorMemory) -> AllocatorMemory:
    if target.given_up:
        return replace(memory, given_up=True)
    if not target.session or (target.session == memory.session and not memory.given_up):
        return memory
    if not memory.session:
        return replace(memory, session=target.session)
    # Another driver in the same pod, or a driver that was given up, so that its executors were all deleted:
    # earlier executors cannot serve it, and their failures are not its fault. A driver that is back may have
    # registered an executor whose creation was not answered: that executor exists, so its request is kept.
    requests = {
        id_: request
        for id_, request in memory.requests.items()
        if request.retry_at is None or id_ in target.registered
    }
    kept = AllocatorMemory(
        next_id=memory.next_id,
        requests=requests,
        removals=memory.removals,
        rate=memory.rate,
        pools=memory.pools,
        interruptions=memory.interruptions,
    )
    return replace(kept, session=target.session, first_id=memory.next_id, losses=memory.losses)


def _long_deleted(id_: int, removal: DeleteRequest, snapshot: Snapshot, now: float) -> bool:
    """Whether an executor was deleted that was never shown, and will not be shown any more."""
    if removal.accepted is None or id_ in snapshot.executors or not snapshot.complete:
        return False
    return now >= removal.accepted + SHOWN_WITHIN


def when_to_forget(memory: AllocatorMemory) -> Iterator[float]:
    """The times at which something is forgotten although nothing has happened."""
    for removal in memory.removals.values():
        if removal.accepted is not None:
            yield removal.accepted + SHOWN_WITHIN
    yield from memory.unusable.values()


def _answered(id_: int, request: CreateRequest, snapshot: Snapshot) -> bool:
    """Whether a request is finished: its pod is shown, or was shown before, or has already gone."""
    if id_ in snapshot.executors or id_ in snapshot.vanished:
        return True
    return request.accepted is not None and executor_states.listed_after(snapshot, request.accepted)


def _ignored(id_: int, removal: DeleteRequest, snapshot: Snapshot) -> bool:
    """Whether a later list shows that an accepted deletion had no effect: it is then sent again."""
    seen = snapshot.executors.get(id_)
    if seen is None or seen.deleting or removal.accepted is None:
        return False
    return executor_states.listed_after(snapshot, removal.accepted)
