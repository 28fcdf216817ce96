"""The invariants about pools of nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from sparkgen.runtime.allocator.decide import executor_states, pools
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Create, Delete
from sparkgen.runtime.allocator.values.memory import PoolPause

if TYPE_CHECKING:
    from simulator.process import AllocatorProcess
    from simulator.world import World


class OnlyWithoutNode(Invariant):
    """An executor is taken from its pool only while it has no node, and while another pool may have one."""

    name = "only-without-node"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        for action in now.decision.actions:
            if not isinstance(action, Delete) or action.why != pools.NO_NODE:
                continue
            seen = now.snapshot.executors[action.id]
            if seen.node or seen.queued:
                raise self.broken(
                    f"executor {action.id} is taken from {seen.pool}, and does not wait for a node"
                )


class PoolInTurn(Invariant):
    """A pool that is avoided gets no new executor for as long as executors wait for a node, or longer.

    After that, one executor at a time tries it, until one gets a node. Times at which all pools are avoided
    are exempt: executors then wait somewhere. The allocator may forget this when it restarts.
    """

    name = "pool-in-turn"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._began: dict[tuple[int, str], tuple[float, PoolPause]] = {}
        """Process and pool -> when the pool was first avoided, and the pause then."""

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        memory, settings = now.decision.memory, now.settings
        avoided = {name: pause for name, pause in memory.pools.items() if pause.ended_at is None}
        for name, pause in avoided.items():
            key = (process.number, name)
            if key not in self._began or self._began[key][1] != pause:
                self._began[key] = (now.now, pause)
        created = Counter(one.pool for one in _created(now))
        if not created or len(avoided) == len(settings.pools):
            return
        situation = executor_states.situation(now.snapshot, now.target, memory, settings, now.now)
        without = Counter(pools.pools_without_node(situation))
        for name in avoided.keys() & created.keys():
            since = now.now - self._began[process.number, name][0]
            if since < settings.pool_timeout:
                raise self.broken(f"{name} is avoided since {since:.1f} s, and gets an executor")
            if without[name] > 1:
                raise self.broken(f"{name} is avoided, and {without[name]} executors try it at once")


def _created(now: Round) -> list[Create]:
    return [one for one in now.decision.actions if isinstance(one, Create) and not one.again]


class PoolShare(Invariant):
    """A new executor belongs to a pool that lacks its share, if there is one that has given nodes so far."""

    name = "pool-share"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        created, settings, pauses = _created(now), now.settings, now.decision.memory.pools
        if not created or not settings.pools:
            return
        memory = now.decision.memory
        new = {one.id for one in created}
        # Those that leave with this decision still count in it.
        leaving = {one.id for one in now.decision.actions if isinstance(one, Delete)}
        kept = {id_: removal for id_, removal in memory.removals.items() if id_ not in leaving}
        memory = replace(memory, removals=kept)
        situation = executor_states.situation(now.snapshot, now.target, memory, settings, now.now)
        active = situation.those(*executor_states.ACTIVE) - new
        counts = Counter(pools.pool_of(situation, id_) for id_ in active)
        for one in created:
            total = counts.total() + 1
            lacking = {pool.name for pool in settings.pools if counts[pool.name] * 100 < pool.share * total}
            first = sorted(lacking - pauses.keys())
            if first and one.pool not in lacking:
                raise self.broken(f"executor {one.id} gets {one.pool}, but {first[0]} has {counts[first[0]]}")
            counts[one.pool] += 1
