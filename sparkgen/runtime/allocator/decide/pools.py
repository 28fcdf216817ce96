"""Which pool of nodes each new executor belongs to, and which pools give no nodes for now. Pure.

A pool is a set of nodes, such as spot nodes, which the executor's pod selects. docs/design/allocation.md has
the rules. The cluster shows the pool of each executor as a label. Only the pauses of pools are remembered:
after a restart, each pool is tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import ACTIVE, Situation
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.memory import Interruption, PoolPause
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState, Loss, ObservedExecutor
from sparkgen.runtime.allocator.values.settings import Pool

NO_NODE = "its pool gives it no node"
"""The reason for removing an executor that waits for a node of a pool, while another pool may have one."""
INTERRUPTIONS = (Cause.PREEMPTED, Cause.EVICTED, Cause.NODE_LOST)
"""Causes of losses for which the node is to blame, and not the executor."""
TOO_MANY_NODES = 3
"""A pool is avoided after it has lost this many nodes within WINDOW: one node with many executors is one."""
WINDOW = 600.0
"""Seconds."""
SHORTEST_PAUSE = 10.0
"""Seconds for which a pool is avoided at least, also if an executor waits for none."""
LONGEST_PAUSE = 3600.0
"""Seconds for which a pool is avoided at most, after many fruitless tries."""


def pools(draft: Draft) -> Draft:
    """Pause pools that give no nodes or lose them too often, and end the pauses of those that give some."""
    situation, memory = draft.situation, draft.memory
    names = [pool.name for pool in situation.settings.pools]
    if not names:
        return draft
    recent = tuple(one for one in memory.interruptions if one.at > situation.now - WINDOW)
    pauses = {name: pause for name in names if (pause := memory.pools.get(name))}
    for name in names:
        pause = pauses.get(name)
        if pause is not None and pause.is_trial(situation.now) and _gave_node(situation, name, pause):
            pauses[name] = pause = replace(pause, ended_at=situation.now)
        if pause is not None and pause.until > situation.now:
            continue
        nodes = {one.node for one in recent if one.pool == name}
        if (why := _why_pause(situation, name, nodes)) is not None:
            pauses[name] = _paused(situation, name, pause, why)
            recent = tuple(one for one in recent if one.pool != name)
    if pauses == memory.pools and recent == memory.interruptions:
        return draft
    return draft.remember(replace(memory, pools=pauses or EMPTY_MAP, interruptions=recent))


def interrupted(
    losses: Mapping[int, Loss], executors: Mapping[int, ObservedExecutor], now: float
) -> tuple[Interruption, ...]:
    """The losses among these for which a node of a pool is to blame."""
    return tuple(
        Interruption(seen.pool, seen.node, now)
        for id_, loss in losses.items()
        for seen in (executors[id_],)
        if seen.pool and seen.node and loss.cause in INTERRUPTIONS and not seen.found_ended
    )


def without_node(situation: Situation) -> frozenset[int]:
    """The executors that another pool gets instead, because theirs is paused: they have no node yet.

    If a pool gives nodes, it gets all of them. If only the pause of another one is over, one tries it.
    """
    memory, now = situation.memory, situation.now
    if not memory.pools:
        return frozenset()
    stuck = [seen.id for seen in _waiting(situation) if not _may_give(memory.pools.get(seen.pool), now)]
    if any(_is_open(situation, pool.name) for pool in situation.settings.pools):
        return frozenset(stuck)
    return frozenset(stuck[: len(_trials(situation))])


def _trials(situation: Situation) -> set[str]:
    """The pools whose pause is over, and that no executor tries yet."""
    over = {name for name, pause in situation.memory.pools.items() if pause.is_trial(situation.now)}
    return over - set(pools_without_node(situation)) if over else over


def _waiting(situation: Situation) -> Iterator[ObservedExecutor]:
    """The executors of pools that the scheduler has no node for; those in a queue wait for the queue."""
    for seen in situation.observed(ExecutorState.PENDING):
        if seen.pool and not seen.node and not seen.queued:
            yield seen


def _may_give(pause: PoolPause | None, now: float) -> bool:
    return pause is None or pause.until <= now


def _is_open(situation: Situation, name: str) -> bool:
    pause = situation.memory.pools.get(name)
    return pause is None or pause.ended_at is not None


def _gave_node(situation: Situation, name: str, pause: PoolPause) -> bool:
    """Whether an executor has got a node of the pool since its pause began."""
    new = (id_ for id_ in situation.those(*ACTIVE) if id_ in pause.waiting or id_ >= pause.first_id)
    shown = situation.snapshot.executors
    return any(shown[id_].pool == name and shown[id_].node for id_ in new if id_ in shown)


def _why_pause(situation: Situation, name: str, lost: set[str]) -> Hindrance | None:
    """Why the pool is avoided from now on; None if it is not. `lost`: the nodes that it has lost lately."""
    settings = situation.settings
    waiting = [seen for seen in _waiting(situation) if seen.pool == name]
    late = [seen for seen in waiting if situation.now >= seen.since + settings.pool_timeout]
    if late:
        text = f"pool {name} gave executors no node within {settings.pool_timeout:.0f} s"
        return Hindrance(Code.POOL_PAUSED, text, late[0].waiting.message if late[0].waiting else "")
    if len(lost) >= TOO_MANY_NODES:
        text = f"pool {name} lost {len(lost)} nodes within {WINDOW:.0f} s"
        return Hindrance(Code.POOL_PAUSED, text)
    return None


def _paused(situation: Situation, name: str, before: PoolPause | None, why: Hindrance) -> PoolPause:
    """The pause of a pool: twice as long as the last one, unless the pool gave nodes for longer than that."""
    length = max(SHORTEST_PAUSE, situation.settings.pool_timeout)
    if before is not None and not before.is_over(situation.now):
        length = min(max(LONGEST_PAUSE, length), 2 * before.length)
    waiting = frozenset(seen.id for seen in _waiting(situation) if seen.pool == name)
    return PoolPause(situation.now + length, length, why, situation.memory.next_id, waiting)


@dataclass(slots=True)
class Places:
    """Gives each new executor of a decision its pool: first where a share is missing, then in the order."""

    situation: Situation
    counts: Counter[str]
    """Executors of each pool that count, with the new ones."""
    trying: set[str]
    """Pools whose pause is over, and that no new executor tries yet."""

    @staticmethod
    def of(situation: Situation) -> Places | None:
        """The places of the executors that exist; None if the document has no pools."""
        if not situation.settings.pools:
            return None
        counts: Counter[str] = Counter(pool_of(situation, id_) for id_ in situation.those(*ACTIVE))
        return Places(situation, counts, _trials(situation))

    def next(self) -> str:
        """The pool of the next executor."""
        settings, pauses = self.situation.settings, self.situation.memory.pools
        allowed = [
            pool for pool in settings.pools if pool.name in self.trying or _is_open(self.situation, pool.name)
        ]
        if allowed:
            total = self.counts.total() + 1
            lacking = (pool for pool in allowed if self.counts[pool.name] < _least(pool, total))
            chosen = next(lacking, allowed[0]).name
        else:
            # Somebody has to wait: in the pool that is tried again first.
            chosen = min(settings.pools, key=lambda pool: pauses[pool.name].until).name
        self.counts[chosen] += 1
        self.trying.discard(chosen)
        return chosen


def _least(pool: Pool, total: int) -> int:
    """How many of `total` executors the pool must have: its share, rounded up."""
    return -(-pool.share * total // 100)


def pool_of(situation: Situation, id_: int) -> str:
    """The pool of an executor; "" if it is not known, or the executor has none."""
    seen, request = situation.snapshot.executors.get(id_), situation.memory.requests.get(id_)
    return seen.pool if seen is not None else request.pool if request is not None else ""


def pools_without_node(situation: Situation) -> Iterable[str]:
    """The pool of each executor that is requested or pending, and has no node yet."""
    shown = situation.snapshot.executors
    for id_ in situation.those(ExecutorState.REQUESTED, ExecutorState.PENDING):
        if id_ not in shown or not shown[id_].node:
            yield pool_of(situation, id_)


def advice(situation: Situation) -> Iterator[Hindrance]:
    """Which pools are avoided, why, and for how long."""
    for pause in situation.memory.pools.values():
        if pause.ended_at is None and pause.until > situation.now:
            left = pause.until - situation.now
            text = f"{pause.reason.message}, so new executors avoid it for {left:.0f} s"
            yield replace(pause.reason, message=text)


def when_to_judge(situation: Situation) -> Iterator[float]:
    """The times at which a pool has had its time, or its pause is over."""
    settings = situation.settings
    if settings.pools:
        yield from (seen.since + settings.pool_timeout for seen in _waiting(situation))
        yield from (pause.until for pause in situation.memory.pools.values())
