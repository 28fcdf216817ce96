"""The invariants about memory that executors get after others were killed for lack of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.observed import Cause
from sparkgen.runtime.allocator.values.settings import MemoryRecovery

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.process import AllocatorProcess
    from simulator.world import World


class MemoryOnlyAfterKills(Invariant):
    """No executor gets more memory than `maxIncrease` allows, or without need.

    It has at most a step more than an executor of its profile that was killed for lack of memory.
    Without the setting, no executor has more than its profile. The limits of the pods count.
    """

    name = "memory-only-after-kills"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._checked: set[str] = set()

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        recovery = now.settings.memory_recovery or MemoryRecovery(0, 0)
        executors = self.world.cluster.executors
        for executor in [executors[uid] for uid in executors.keys() - self._checked]:
            self._checked.add(executor.uid)
            more = f"executor {executor.id} has {executor.added_memory} MiB more than its profile"
            if executor.added_memory > recovery.maximum:
                raise self.broken(f"{more}, and {recovery.maximum} are allowed")
            killed = sorted({one.added_memory for one in self._killed(executor.profile)})
            if executor.added_memory > max((size + recovery.step for size in killed), default=0):
                raise self.broken(f"{more}, and those that were killed had {killed}")

    def _killed(self, profile: int) -> Iterator[Executor]:
        for executor in self.world.cluster.executors.values():
            if executor.profile == profile and any(cause is Cause.OOM for cause, _ in executor.causes):
                yield executor


class MemoryGrows(Invariant):
    """No executor gets less memory than one that the allocator sees, whichever process created that one.

    If that one was killed for lack of memory, the next one gets a step more, up to the maximum. So the need
    is met after as many kills, one after another, as there are steps in it.
    Executors of an earlier driver do not count.
    """

    name = "memory-grows"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        recovery = now.settings.memory_recovery
        orders = [one for one in now.decision.actions if isinstance(one, Create)]
        if recovery is None or not orders:
            return
        executors = {executor.uid: executor for executor in self.world.cluster.executors.values()}
        for id_, seen in now.snapshot.executors.items():
            if id_ < now.decision.memory.first_id:
                continue
            had = executors[seen.uid].added_memory
            killed = seen.loss is not None and seen.loss.cause is Cause.OOM
            least = min(had + recovery.step if killed else had, recovery.maximum)
            for order in orders:
                if order.profile == seen.profile and order.added_memory < least:
                    raise self.broken(
                        f"executor {order.id} gets {order.added_memory} MiB more than its profile, but the "
                        f"allocator sees that executor {id_} {'was killed with' if killed else 'has'} {had}"
                    )
