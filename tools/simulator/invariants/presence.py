"""The executors that an allocator must count: those that really exist, and that it can know of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create
from sparkgen.runtime.kubernetes.answers import Answer

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.network import Fate
    from simulator.process import AllocatorProcess
    from simulator.world import World


class Presence(Invariant):
    """An invariant about the number of executors.

    Executors that the allocator cannot know of do not count: a pod whose creation failed or timed out, and
    which was given up because fewer were wanted meanwhile, or that was created after the time-out.
    """

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.uncertain: set[int] = set()
        """Executors whose creation was not answered with success."""
        self._asked: set[int] = set()
        self._before_fewer: set[int] = set()
        """Executors that were requested before fewer were wanted."""
        self._wanted: Mapping[int, int] = {}

    @property
    def abandoned(self) -> set[int]:
        """Executors whose creation did not succeed, and since whose request fewer are wanted."""
        return self.uncertain & self._before_fewer

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        if isinstance(outcome.action, Create) and outcome.answer is not Answer.DONE:
            self.uncertain.add(outcome.action.id)

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        wanted = executor_states.wanted(now.target, now.settings)
        if wanted != self._wanted:
            if any(count > wanted.get(profile, 0) for profile, count in self._wanted.items()):
                self._before_fewer |= self._asked
            self._wanted = wanted
        self._asked = self._asked.union(*asked_for(now).values())

    def there(self, process: AllocatorProcess, now: Round) -> list[Executor]:
        """The executors that live, are not leaving, and that the process can know of."""
        target, memory = now.target, now.decision.memory
        leaving = {*target.kills, *target.lost, *target.draining, *target.refused, *memory.removals}
        found = []
        for executor in self.world.cluster.executors.values():
            if executor.id in leaving or executor.id < memory.first_id:
                continue
            if self.is_known(process, executor) and self.world.is_alive(executor):
                found.append(executor)
        return found

    def is_known(self, process: AllocatorProcess, executor: Executor) -> bool:
        """Whether this process has seen the executor, or has requested it in time."""
        if executor.uid in process.seen or executor.uid in process.there_at_list:
            return True
        return self.sent_in_time(process, executor)

    def sent_in_time(self, process: AllocatorProcess, executor: Executor) -> bool:
        """Whether this process requested the executor, did not give it up, and it was created in time."""
        given_up = executor.id in self.abandoned or executor.id in self.world.network.late_ids
        return executor.id in process.sent_ids and not given_up


def asked_for(now: Round) -> dict[int, set[int]]:
    """The new executors of a round, per profile."""
    found: dict[int, set[int]] = {}
    for action in now.decision.actions:
        if isinstance(action, Create) and not action.again:
            found.setdefault(action.profile, set()).add(action.id)
    return found
