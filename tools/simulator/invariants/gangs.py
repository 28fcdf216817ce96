"""The invariants about gangs: executors that are useful only together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulator import placement
from simulator.invariants.invariant import Invariant
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.observed import ObservedExecutor
from sparkgen.runtime.allocator.values.target import DriverPhase

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.driver import Driver
    from simulator.process import AllocatorProcess
    from simulator.world import World


class GangTogether(Invariant):
    """The first executors of a driver get their nodes at the same time: as many as the gang has, or none.

    This holds while Spark wants at least as many. Later executors come one by one: a new executor is a member
    if, and only if, the allocator sees no executor of the driver's default profile with a node, and the gang
    fits beside the executors that it sees waiting without a gang. Ending members count for the scheduler
    until they have ended.
    """

    name = "gang-together"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._begun: set[int] = set()
        """The first ids of the drivers whose executors have got nodes."""
        self._fewer = False
        """Whether Spark has ever wanted fewer executors than the gang: then they come one by one."""

    def placed(self, executors: Sequence[Executor]) -> None:
        gang, process = self.world.schedule.settings.gang, self.world.process
        first = self.world.volume.notes.first_id
        own = [one for one in executors if one.profile == 0 and one.id >= first]
        if not gang or not own or self._fewer or process is None or first in self._begun:
            return
        self._begun.add(first)
        held = sum(self._holds_a_node(one) for one in self.world.cluster.executors.values())
        if len(executors) + held < gang:
            raise self.broken(f"{[one.id for one in own]} get nodes, but the gang has {gang} executors")

    def _holds_a_node(self, executor: Executor) -> bool:
        pod = self.world.cluster.pod(executor)
        return pod is not None and "nodeName" in pod["spec"] and pod["status"]["phase"] in placement.ALIVE

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        gang = self.world.schedule.settings.gang
        if not gang or now.target.phase is DriverPhase.STOPPED:
            return
        wanted = executor_states.wanted(now.target, now.settings).get(0, 0)
        self._fewer = self._fewer or wanted < gang
        made = [one for one in now.decision.actions if isinstance(one, Create) and one.profile == 0]
        own = self._seen(now)
        placed = sorted(one.id for one in own if one.node)
        alone = sum(not one.gang for one in own)
        pending = (
            now.settings.max_unschedulable if now.settings.max_pending is None else now.settings.max_pending
        )
        fits = gang + alone <= min(wanted, now.settings.max_unschedulable, pending)
        for order in made:
            if order.gang and placed:
                raise self.broken(
                    f"executor {order.id} is created as a member of the gang, but {placed} already have nodes"
                )
            if not order.gang and fits and not placed:
                raise self.broken(
                    f"executor {order.id} is not created as a member of the gang, although no executor has "
                    "a node"
                )

    def _seen(self, now: Round) -> list[ObservedExecutor]:
        """The driver's executors of the default profile that the allocator sees, and that are not leaving."""
        target, memory = now.target, now.decision.memory
        leaving = {*target.kills, *target.lost, *target.draining, *target.refused, *memory.removals}
        return [
            one
            for one in now.snapshot.executors.values()
            if one.profile == 0
            and one.id >= memory.first_id
            and one.id not in leaving
            and not one.deleting
            and not executor_states.ended(one)
        ]


class BeginsWithItsMinimum(Invariant):
    """If Spark waits for a minimum of executors, it begins with at least as many, and it does begin.

    An application that is held until the end need not begin.
    """

    name = "begins-with-its-minimum"

    def begins(self, driver: Driver) -> None:
        least = self.world.schedule.begins_with
        if len(driver.registered) < least:
            raise self.broken(
                f"the application starts with {sorted(driver.registered)}, but must wait for {least}"
            )

    def ends_quiet(self) -> None:
        driver, least = self.world.driver, self.world.schedule.begins_with
        if least and driver is not None and not driver.begun and not self.world.settings.hold:
            raise self.broken(
                f"{sorted(driver.registered)} are registered, but the application does not start"
            )


class NoDeadlock(Invariant):
    """Two gangs on nodes with room for one of them begin one after the other, and never block each other."""

    name = "no-deadlock"

    def stuck(self) -> None:
        driver = self.world.driver
        has = [] if driver is None else sorted(driver.registered)
        gang = self.world.schedule.settings.gang
        raise self.broken(
            f"the application has {has} of a gang of {gang}, and the other application does not end"
        )
