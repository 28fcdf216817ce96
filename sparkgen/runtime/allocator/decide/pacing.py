"""The pace: how many executors may be created now, all profiles together, and when more. Pure.

This is the smallest of these limits: the reviewed maximum (ceiling.py), the batch of `batchSize` per
`batchDelay`, the rate that the API server accepts, the pause after a refusal or a bad start, and
`maxPendingPods`. gates.py divides it among the profiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sparkgen.runtime.allocator.decide import ceiling, gates
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState


def begin_batch(draft: Draft) -> Draft:
    """Begin a batch if it is time, and if at least one executor of it could be created.

    Otherwise, a batch in which nothing can be created would begin after each `batch_delay`.
    """
    settings, memory, now = draft.situation.settings, draft.memory, draft.situation.now
    if settings.batch_size is None or not _places(draft):
        return draft
    if memory.batch_at is not None and now < memory.batch_at + settings.batch_delay:
        return draft
    return draft.remember(replace(memory, batch_at=now, batch_left=settings.batch_size))


def room(draft: Draft) -> int:
    """How many executors may be created now, all profiles together."""
    if draft.situation.settings.batch_size is None:
        return _places(draft)
    return min(_places(draft), draft.memory.batch_left)


def _places(draft: Draft) -> int:
    """How many executors may be created now, ignoring the current batch."""
    situation, memory = draft.situation, draft.memory
    if situation.snapshot.listed_at is None:  # after a restart there may be executors that no list has shown
        return 0
    if max(memory.refusals.until, memory.bad_starts.until) > situation.now or _blocked(situation):
        return 0
    there = situation.count(*ceiling.THERE)
    room = min(draft.slots, ceiling.maximum(situation.settings) - there)
    if memory.refusals.level:  # one creation tries whether the server accepts it again
        room = min(room, 1 if not _open_creations(memory) else 0)
    if situation.settings.max_pending is not None:
        room = min(room, situation.settings.max_pending - gates.on_their_way(situation).total())
    return max(0, room)


def _open_creations(memory: AllocatorMemory) -> bool:
    return any(request.accepted is None for request in memory.requests.values())


def _blocked(situation: Situation) -> bool:
    """Whether an executor waits for something that will not come, such as its image: others would, too."""
    return any(
        seen.waiting is not None and seen.waiting.permanent
        for seen in situation.observed(ExecutorState.PENDING)
    )


def when_more(situation: Situation) -> Iterator[float]:
    """The times at which a pause is over, or a batch may begin."""
    memory, settings = situation.memory, situation.settings
    yield from (memory.refusals.until, memory.bad_starts.until, memory.rate.resume_at)
    if memory.batch_at is not None and settings.batch_size is not None:
        yield memory.batch_at + settings.batch_delay
