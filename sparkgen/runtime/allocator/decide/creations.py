"""Which executors are missing, and how many to create now, within rate, batch, gates and pauses."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sparkgen.runtime.allocator.decide import (
    executor_states,
    gangs,
    gates,
    host_ports,
    locality,
    pacing,
    pools,
)
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Create, NodeWish
from sparkgen.runtime.allocator.values.memory import CreateRequest
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.target import DriverPhase


def creations(draft: Draft) -> Draft:
    """Create what is missing: first repeat unanswered requests, then create new executors, fairly."""
    if draft.situation.target.phase is DriverPhase.STOPPED or draft.memory.failure is not None:
        return draft
    if draft.situation.awaited:
        return draft
    member = gangs.waits(draft.situation)
    draft = _again(draft, member=member)
    missing = missing_executors(draft)
    if not missing:
        return draft
    batches = gates.batches(draft.situation, missing)
    shares = gates.shares(draft.situation, missing, batches)
    if max(shares.values()) > 0:
        draft = pacing.begin_batch(draft)
    created: Counter[int] = Counter()
    ports = host_ports.supply(draft.situation)
    places = pools.Places.of(draft.situation)
    order = list(_fairly(draft.situation, shares, pacing.room(draft)))
    wishes = {p: locality.wishes(draft.situation, p, count) for p, count in Counter(order).items()}
    for profile in order:
        port = None
        if ports is not None:
            port = ports.next_for(draft.memory.next_id)
            if port is None:  # the decision has the reason (host_ports.exhausted)
                break
            ports = ports.less(port)
        request = CreateRequest(profile, draft.situation.now, port=port, pool=places.next() if places else "")
        draft = _create(draft, request, wishes[profile][created[profile]], member=member)
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


def _again(draft: Draft, *, member: bool) -> Draft:
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
        wishes = locality.wishes(draft.situation, request.profile, 1)[0]
        draft = _with_request(draft, id_, sent, wishes, again=True, member=member)
    return draft


def _is_back(snapshot: Snapshot, request: CreateRequest) -> bool:
    """Whether the server has answered a list since the request failed, so that waiting longer has no use."""
    return request.failed_at is not None and executor_states.listed_after(snapshot, request.failed_at)


def _with_request(
    draft: Draft,
    id_: int,
    request: CreateRequest,
    wishes: tuple[NodeWish, ...],
    *,
    again: bool = False,
    member: bool,
) -> Draft:
    shape = None if request.profile == 0 else draft.situation.target.profiles.get(request.profile)
    memory = replace(draft.memory, requests={**draft.memory.requests, id_: request})
    avoid = tuple(sorted(memory.unusable))
    gang = request.profile == 0 and member
    added = memory.added_memory.get(request.profile, 0)
    create = Create(
        id_, request.profile, shape, again, request.port, avoid, gang, wishes, added, request.pool
    )
    return replace(draft.remember(memory), actions=(*draft.actions, create))


def _fairly(situation: Situation, shares: Mapping[int, int], room: int) -> Iterator[int]:
    """Yields the profile of each executor to create, at most `room`.

    Each time, this is the profile that has the smallest part of what it wants.
    `shares`: how many executors each profile may create (gates.shares).
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


def _create(draft: Draft, request: CreateRequest, wishes: tuple[NodeWish, ...], *, member: bool) -> Draft:
    memory = draft.memory
    id_ = memory.next_id
    left = max(0, memory.batch_left - 1)
    draft = draft.remember(replace(memory, next_id=id_ + 1, batch_left=left))
    return _with_request(draft, id_, request, wishes, member=member)


def when_to_create(situation: Situation) -> Iterator[float]:
    """The times at which a creation is repeated."""
    return (one.retry_at for one in situation.memory.requests.values() if one.retry_at is not None)
