"""What is missing, and how much of it may be created now: by rate, batch, gate and pause, and fairly."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sparkgen.runtime.allocator.decide import ceiling, executor_states, gates, host_ports
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest
from sparkgen.runtime.allocator.values.observed import ExecutorState, Snapshot
from sparkgen.runtime.allocator.values.target import DriverPhase


def creations(draft: Draft) -> Draft:
    """Create what is missing: what was asked for and not answered first, then new ones, fairly."""
    if draft.situation.target.phase is DriverPhase.STOPPED or draft.memory.failure is not None:
        return draft
    if draft.situation.awaited:
        return draft
    draft = _again(draft)
    missing = missing_executors(draft)
    if not missing:
        return draft
    batches = gates.batches(draft.situation, missing)
    shares = gates.shares(draft.situation, missing, batches)
    if max(shares.values()) > 0:
        draft = _begin_batch(draft)
    created: Counter[int] = Counter()
    ports = host_ports.supply(draft.situation)
    for profile in _fairly(draft.situation, shares, _room(draft)):
        port = None
        if ports is not None:
            port = ports.next_for(draft.memory.next_id)
            if port is None:  # the reason says so (host_ports.exhausted)
                break
            ports = ports.less(port)
        draft = _create(draft, profile, port)
        created[profile] += 1
    left = gates.remaining(draft.situation, batches, created)
    return draft.remember(replace(draft.memory, batches=left))


def missing_executors(draft: Draft) -> Counter[int]:
    """How many executors are missing, per profile that the driver has described."""
    situation = draft.situation
    missing = Counter(situation.wanted())
    missing.subtract(situation.active())
    known = {0, *situation.target.profiles}
    return Counter({profile: count for profile, count in missing.items() if count > 0 and profile in known})


def _again(draft: Draft) -> Draft:
    now = draft.situation.now
    for id_, request in sorted(draft.memory.requests.items()):
        if (
            request.retry_at is None
            or (request.retry_at > now and not _is_back(draft.situation.snapshot, request))
            or not draft.slots
            or id_ in draft.memory.removals
        ):
            continue
        sent = replace(request, retry_at=None, tries=request.tries + 1)
        draft = _with_request(draft, id_, sent, again=True)
    return draft


def _is_back(snapshot: Snapshot, request: CreateRequest) -> bool:
    """Whether the server has answered since, so that there is nothing more to wait for."""
    return request.failed_at is not None and executor_states.listed_after(snapshot, request.failed_at)


def _with_request(draft: Draft, id_: int, request: CreateRequest, *, again: bool = False) -> Draft:
    shape = None if request.profile == 0 else draft.situation.target.profiles.get(request.profile)
    memory = replace(draft.memory, requests={**draft.memory.requests, id_: request})
    create = Create(id_, request.profile, shape, again, request.port, tuple(sorted(memory.unusable)))
    return replace(draft.remember(memory), actions=(*draft.actions, create))


def _begin_batch(draft: Draft) -> Draft:
    """Begin a batch when it is time, and one executor of it could be created at least.

    Otherwise each second would begin one in which nothing can be done.
    """
    settings, memory, now = draft.situation.settings, draft.memory, draft.situation.now
    if settings.batch_size is None or not _places(draft):
        return draft
    if memory.batch_at is not None and now < memory.batch_at + settings.batch_delay:
        return draft
    return draft.remember(replace(memory, batch_at=now, batch_left=settings.batch_size))


def _room(draft: Draft) -> int:
    """How many executors may be created now, all profiles together."""
    if draft.situation.settings.batch_size is None:
        return _places(draft)
    return min(_places(draft), draft.memory.batch_left)


def _places(draft: Draft) -> int:
    """The same, but for what is left of the batch."""
    situation, memory = draft.situation, draft.memory
    if situation.snapshot.listed_at is None:  # after a restart there may be executors that no list has shown
        return 0
    if max(memory.refusals.until, memory.bad_starts.until) > situation.now or _blocked(situation):
        return 0
    there = situation.count(*ceiling.THERE)
    room = min(draft.slots, ceiling.maximum(situation.settings) - there)
    if memory.refusals.level:  # one tries whether the server takes it again
        room = min(room, 1 if not _open_creations(memory) else 0)
    if situation.settings.max_pending is not None:
        room = min(room, situation.settings.max_pending - gates.on_their_way(situation).total())
    return max(0, room)


def _open_creations(memory: AllocatorMemory) -> bool:
    return any(request.accepted is None for request in memory.requests.values())


def _blocked(situation: Situation) -> bool:
    """Whether an executor waits for what will not come, such as its image: more of the same would, too."""
    return any(
        seen.waiting is not None and seen.waiting.permanent
        for seen in situation.observed(ExecutorState.PENDING)
    )


def _fairly(situation: Situation, shares: Mapping[int, int], room: int) -> Iterator[int]:
    """Profiles to create for, `room` at most: always the one that has the smallest part of what it wants.

    `shares`: how many each of them may create (gates.shares).
    """
    active, want = situation.active(), situation.wanted()
    heap = [(active[profile] / want[profile], profile, 0) for profile, share in shares.items() if share > 0]
    heapq.heapify(heap)
    while heap and room > 0:
        _, profile, given = heapq.heappop(heap)
        yield profile
        room, given = room - 1, given + 1
        if given < shares[profile]:
            heapq.heappush(heap, ((active[profile] + given) / want[profile], profile, given))


def _create(draft: Draft, profile: int, port: int | None) -> Draft:
    memory, now = draft.memory, draft.situation.now
    id_ = memory.next_id
    left = max(0, memory.batch_left - 1)
    draft = draft.remember(replace(memory, next_id=id_ + 1, batch_left=left))
    return _with_request(draft, id_, CreateRequest(profile, now, port=port))


def when_to_create(situation: Situation) -> Iterator[float]:
    """When a creation is sent again, a pause is over, or a batch may begin."""
    memory, settings = situation.memory, situation.settings
    yield from (memory.refusals.until, memory.bad_starts.until, memory.rate.resume_at)
    if memory.batch_at is not None and settings.batch_size is not None:
        yield memory.batch_at + settings.batch_delay
    for request in memory.requests.values():
        if request.retry_at is not None:
            yield request.retry_at
