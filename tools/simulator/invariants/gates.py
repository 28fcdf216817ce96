"""The invariants about gates: how many executors may be starting (decide/gates.py of the allocator)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from simulator.invariants.presence import Presence, asked_for
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.kubernetes.answers import Answer

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.driver import Driver
    from simulator.network import Fate
    from simulator.process import AllocatorProcess
    from simulator.world import World


class BoundedUnschedulable(Presence):
    """At most `maxUnschedulablePods` pods have no node, so that no more can ever be unschedulable.

    This holds whatever the driver reports about them, for example that they are registered or leaving.

    If several profiles wait, the limit is divided equally: a profile gets a new executor only if it then has
    no more than its part without a node, at least one; a gang, of the default profile, may use all of it.
    Of the executors that this process requested, no profile ever has more than the largest limit so far.
    """

    name = "bounded-unschedulable"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._largest = 1

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        super().after_round(process, before, now)
        most, asked = now.settings.max_unschedulable, asked_for(now)
        self._largest = max(self._largest, most)
        waiting, own = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
        for executor in self.world.cluster.executors.values():
            if self.is_known(process, executor) and self._has_no_node(executor):
                waiting[executor.profile].add(executor.id)
                if self.sent_in_time(process, executor):
                    own[executor.profile].add(executor.id)
        part = max(1, most // max(1, len(waiting.keys() | asked.keys())))
        for profile, ids in asked.items():
            share = most if now.settings.gang and profile == 0 else part
            if len(waiting[profile] | ids) > share:
                raise self.broken(
                    f"{sorted(ids)} are created while {sorted(waiting[profile] - ids)} have no node, "
                    f"and {share} may have none of profile {profile}"
                )
        for profile, ids in own.items():
            if len(ids) > self._largest:
                raise self.broken(
                    f"{sorted(ids)} of profile {profile} have no node, but only {self._largest} may have none"
                )

    def _has_no_node(self, executor: Executor) -> bool:
        pod = self.world.cluster.pod(executor)
        return pod is not None and not pod["spec"].get("nodeName")


class KeepsItsPlace(Invariant):
    """An executor that waits in a queue is created only once: it stays while Spark wants as many.

    If there are too many, waiting executors are removed first: no other executor of the same profile is
    removed for this reason while one of them stays.
    """

    name = "keeps-its-place"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        deleted = {one.id: one.why for one in now.decision.actions if isinstance(one, Delete)}
        excess = {id_ for id_, why in deleted.items() if why == "more than Spark wants"}
        seen = now.snapshot.executors
        waiting = {id_ for id_, one in seen.items() if one.queued}
        for id_ in sorted(waiting & deleted.keys()):
            if deleted[id_] in GIVEN_UP:
                raise self.broken(f"executor {id_} waited in a queue, but is given up: {deleted[id_]}")
        memory, target = now.decision.memory, now.target
        leaving = {*memory.removals, *target.refused, *target.kills, *target.draining, *target.lost}
        stay = {id_ for id_ in waiting - leaving if id_ >= memory.first_id and not seen[id_].deleting}
        for id_ in sorted(excess & seen.keys() - waiting - target.refused):
            same = sorted(other for other in stay if seen[other].profile == seen[id_].profile)
            if same:
                raise self.broken(
                    f"executor {id_} is given up because there are too many, although {same} wait in a queue"
                )


GIVEN_UP = ("pending for too long", "unable to start")
"""Reasons for the removal of executors that Spark still wants."""


class WaitsForRegistration(Presence):
    """With Spark's classic rule, a batch begins once all executors of the profile's last one have registered.

    Exceptions: executors that have ended, have to go, or wait for others of their gang. No batch has more
    than `batchSize` executors.
    The driver's messages count as true for what has registered and what leaves.
    """

    name = "waits-for-registration"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._registered: set[int] = set()
        self._batches: dict[int, set[int]] = {}
        self._refused: set[int] = set()

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        super().answered(process, outcome, fate)
        if outcome.answer in (Answer.REFUSED, Answer.PERMANENT):
            self._refused.add(outcome.action.id)

    def registers(self, driver: Driver, executor: Executor) -> None:
        self._registered.add(executor.id)

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        super().after_round(process, before, now)
        settings = now.settings
        self._registered |= executor_states.named_by_driver(now.target)
        if not settings.wait_for_registration:
            return
        there = self.there(process, now)
        for profile, asked in asked_for(now).items():
            ids = {executor.id for executor in there if executor.profile == profile}
            before_it = self._batches.get(profile, set())
            waited_for = (ids | self._on_the_wire(before_it, process, now)) - self._registered - asked
            batch = asked | (before_it if waited_for else set())
            of_gang = any(
                one.id in asked and one.gang for one in now.decision.actions if isinstance(one, Create)
            )
            most = None if of_gang else settings.batch_size
            if most is not None and (waited_for - batch or len(batch) > most):
                raise self.broken(
                    f"{sorted(asked)} are created while {sorted(waited_for)} have not registered, "
                    f"in batches of {most}"
                )
            self._batches[profile] = batch

    def _on_the_wire(self, ids: set[int], process: AllocatorProcess, now: Round) -> set[int]:
        """The ids without a pod so far whose creation this process still waits for."""
        made = {executor.id for executor in self.world.cluster.executors.values()}
        open_ = {action.id for action in process.in_flight.values() if isinstance(action, Create)}
        open_ |= (self.uncertain & process.sent_ids) - self.abandoned - self._refused
        return {id_ for id_ in ids & open_ - made if id_ >= now.decision.memory.first_id}
