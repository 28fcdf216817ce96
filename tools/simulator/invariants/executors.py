"""The invariants of every schedule: each class's docstring states one, and its code checks it.

They compare with the true state of the model, which the allocator cannot see, and do not depend on how the
allocator works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.driver import FIRST_SESSION
from simulator.invariants.bounds import BoundedCalls, BoundedMemory, NoLeak, NoneWhileHeld, NoSpin, Patience
from simulator.invariants.files import EndsWithoutFiles
from simulator.invariants.gangs import BeginsWithItsMinimum, GangTogether, NoDeadlock
from simulator.invariants.gates import BoundedUnschedulable, KeepsItsPlace, WaitsForRegistration
from simulator.invariants.hooks import Invariants
from simulator.invariants.invariant import Invariant
from simulator.invariants.locality import WishesFollowHints
from simulator.invariants.memory import MemoryGrows, MemoryOnlyAfterKills
from simulator.invariants.pools import OnlyWithoutNode, PoolInTurn, PoolShare
from simulator.invariants.presence import Presence, asked_for
from simulator.invariants.sessions import ROUNDED, NobodyHoldsNothing, NoTakeover, OneSession, SessionEnds
from simulator.sessions import SILENCE
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Action, Create, Delete
from sparkgen.runtime.allocator.values.observed import Cause

if TYPE_CHECKING:
    from simulator.cluster import Executor
    from simulator.driver import Driver, ExecutorStatus
    from simulator.process import AllocatorProcess
    from simulator.world import World


class NoIdTwice(Invariant):
    """No executor id is used twice, not even after restarts: it is new only once, and one pod registers."""

    name = "no-id-twice"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._asked: set[int] = set()
        self._registered: dict[int, str] = {}

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        if isinstance(action, Create) and not action.again:
            if action.id in self._asked:
                raise self.broken(f"executor {action.id} is requested as a new one for the second time")
            self._asked.add(action.id)

    def registers(self, driver: Driver, executor: Executor) -> None:
        if self._registered.setdefault(executor.id, executor.uid) != executor.uid:
            raise self.broken(f"two pods have registered as executor {executor.id}")


class RegisteredStays(Invariant):
    """No registered executor is deleted unless Spark asked for it.

    Exceptions: it has ended or is being deleted already, its node is lost, or it was created for an earlier
    driver of the same pod. In sessions also: its driver has been silent for a minute, or the session ends.
    """

    name = "registered-stays"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._session: dict[int, str] = {}
        self._given_up: set[int] = set()
        """Executors that existed while their driver was silent for so long: they may be deleted later."""

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        if isinstance(action, Delete):
            self._look(process)
            self._check(action)
        elif not action.again and process.mailbox.last is not None:
            self._session[action.id] = process.mailbox.last.decision.memory.session or FIRST_SESSION

    def served(self, process: AllocatorProcess, action: Action) -> None:
        if isinstance(action, Delete):
            self._check(action)

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        self._look(process)

    def _look(self, process: AllocatorProcess) -> None:
        people, driver = self.world.people, self.world.driver
        if people is None or driver is None:
            return
        if process.ends_session or people.silent(process, driver.session) > SILENCE - ROUNDED:
            self._given_up |= {executor.id for executor in self.world.executors_there()}

    def _check(self, action: Delete) -> None:
        driver, cluster = self.world.driver, self.world.cluster
        if action.id in self._given_up:
            return
        if driver is None or driver.state.stopped or action.id not in driver.registered:
            return
        if self._session.get(action.id, driver.session) != driver.session:
            return
        executor = driver.uids[action.id]
        pod = cluster.pod(executor)
        if pod is None or not executor.runs or pod["metadata"].get("deletionTimestamp"):
            return
        raise self.broken(f"executor {action.id} is registered, but is deleted: {action.why}")


class NeverAbove(Presence):
    """No executor is created beyond the target: existing and requested executors together do not exceed it.

    Executors that the allocator cannot know of do not count (Presence).
    """

    name = "never-above"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        super().after_round(process, before, now)
        fresh = asked_for(now)
        if not fresh:
            return
        wanted, there = executor_states.wanted(now.target, now.settings), self.there(process, now)
        for profile, asked in fresh.items():
            ids = asked | {executor.id for executor in there if executor.profile == profile}
            if len(ids) > wanted.get(profile, 0):
                raise self.broken(
                    f"{sorted(asked)} are created while {sorted(ids - asked)} are there, "
                    f"and {wanted.get(profile, 0)} are wanted of profile {profile}"
                )


class NeverAboveReviewed(Presence):
    """Whatever the driver reports, no executor is created beyond the settings' maximum over all profiles.

    Leaving executors count until they have ended. Executors that the allocator cannot know of do not count.
    """

    name = "never-above-reviewed"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        super().after_round(process, before, now)
        asked = set[int]().union(*asked_for(now).values())
        settings = now.settings
        most = settings.maximum if settings.dynamic else settings.instances
        if not asked or most is None:
            return
        ids = asked | {
            executor.id
            for executor in self.world.cluster.executors.values()
            if self.is_known(process, executor) and self._is_there(executor)
        }
        if len(ids) > most:
            raise self.broken(
                f"{sorted(asked)} are created while {sorted(ids - asked)} exist; at most {most} may exist"
            )

    def _is_there(self, executor: Executor) -> bool:
        pod = self.world.cluster.pod(executor)
        if pod is None or not self.world.cluster.is_well(executor):
            return False
        lost = any(cause is Cause.NODE_LOST for cause, _ in executor.causes)
        return not lost and (executor.runs or pod["status"]["phase"] == "Pending")


class NobodyAliveIsDead(Invariant):
    """No executor is reported as gone while its pod exists, and has neither ended nor is being deleted."""

    name = "nobody-alive-is-dead"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if not now.decision.gone:
            return
        for executor in self.world.cluster.executors.values():
            if executor.id in now.decision.gone and self.world.is_alive(executor):
                raise self.broken(f"executor {executor.id} is reported as gone, but it runs")


class NoPartialView(Invariant):
    """Nothing is concluded from a partial view.

    No executor is created before a complete list was read. During a gap, no executor is reported as gone only
    because nothing shows it, unless it was reported as gone before.
    """

    name = "no-partial-view"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        snapshot, decision = now.snapshot, now.decision
        if not process.lists and any(isinstance(a, Create) and not a.again for a in decision.actions):
            raise self.broken("executors are created before a list was read")
        if snapshot.complete and not process.in_gap:
            return
        known = before.decision.memory.losses if before is not None else {}
        for id_ in decision.gone:
            if id_ not in snapshot.executors and id_ not in snapshot.vanished and id_ not in known:
                raise self.broken(
                    f"executor {id_} is reported as gone during a gap of the watch, although nothing has "
                    "shown it"
                )


class EveryLossOnce(Invariant):
    """Every loss is reported once, with a true cause.

    A loss counts against the application only if the application caused it. If the allocator did not see the
    removal of the pod, "deleted" and "unknown" are true causes, too. A reported cause does not change later.
    The driver's messages count as true: an executor that it reported as draining has left on its order.
    """

    name = "every-loss-once"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._counted: dict[int, set[int]] = defaultdict(set)
        self._leaving: set[int] = set()

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        self._leaving |= now.target.draining
        earlier = before.decision if before is not None else None
        losses, known = now.decision.memory.losses, earlier.memory.losses if earlier else {}
        counted = self._counted[process.number]
        for id_ in losses.keys() - known.keys():
            if id_ in counted:
                raise self.broken(f"the loss of executor {id_} is counted a second time")
            counted.add(id_)
        if earlier is not None:
            for id_ in now.decision.gone.keys() & earlier.gone.keys():
                if now.decision.gone[id_] != earlier.gone[id_]:
                    raise self.broken(f"the verdict on executor {id_} changes")

    def told(self, driver: Driver, id_: int, status: ExecutorStatus, loss: Mapping[str, Any]) -> None:
        executor = driver.uids[id_]
        cause = Cause(loss["cause"])
        true = self._true_causes(driver, executor, status)
        if cause not in true:
            words = ", ".join(sorted(one.value for one in true)) or "nothing"
            raise self.broken(
                f"executor {id_} is reported as gone by {cause.value}; the real cause is {words}"
            )
        if loss["byApplication"] and not any(blame for _, blame in executor.causes):
            raise self.broken(f"the application is blamed for the loss of executor {id_} ({cause.value})")

    def _true_causes(self, driver: Driver, executor: Executor, status: ExecutorStatus) -> set[Cause]:
        causes = {cause for cause, _ in executor.causes}
        process = self.world.process
        asked = driver.state.stopped or status.value in ("kills", "draining")
        asked |= executor.id in driver.asked | self._leaving
        last = process.mailbox.last if process is not None else None
        asked |= last is not None and executor.id < last.decision.memory.first_id  # an earlier driver's
        if asked or process is None or executor.id in process.sent_deletes:
            causes |= {Cause.KILLED, Cause.DELETED, Cause.UNKNOWN, Cause.EXITED}
        gone = self.world.cluster.pod(executor) is None
        if process is None or (gone and not process.saw_end_of(executor)):
            causes |= {Cause.DELETED, Cause.UNKNOWN}
        return causes

    def given_up(self, driver: Driver, id_: int) -> None:
        calm_since = self.world.event_queue.now - self.world.schedule.calm_at
        if calm_since > 120.0:
            raise self.broken(f"the driver lost executor {id_}, and was never told why")


class TargetReached(Invariant):
    """After the faults, the target is reached exactly, and there are no other executors."""

    name = "target-reached"

    def begins_quiet(self) -> None:
        missing = self.world.what_is_missing()
        if missing:
            raise self.broken(missing)


FAILURES = 3
"""Fewer failures are no reason to stop: schedules with a limit allow two executors to fail."""


class NoBlame(Invariant):
    """No application is stopped for faults of the cluster.

    If its files are gone, it may stop after at least three executors have ended through its fault.
    """

    name = "no-blame"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if now.decision.failure is None:
            return
        cluster = self.world.cluster
        blamed = sum(any(blame for _, blame in one.causes) for one in cluster.executors.values())
        if not cluster.without_files or blamed < FAILURES:
            raise self.broken(f"the application has to stop: {now.decision.failure}")


INVARIANTS: tuple[type[Invariant], ...] = (
    NoIdTwice,
    RegisteredStays,
    NeverAbove,
    NeverAboveReviewed,
    BoundedUnschedulable,
    WaitsForRegistration,
    KeepsItsPlace,
    GangTogether,
    BeginsWithItsMinimum,
    NoDeadlock,
    WishesFollowHints,
    NobodyAliveIsDead,
    NoPartialView,
    EveryLossOnce,
    TargetReached,
    BoundedCalls,
    NoneWhileHeld,
    Patience,
    BoundedMemory,
    NoLeak,
    NoBlame,
    EndsWithoutFiles,
    MemoryOnlyAfterKills,
    MemoryGrows,
    OnlyWithoutNode,
    PoolInTurn,
    PoolShare,
    NoSpin,
    NoTakeover,
    OneSession,
    NobodyHoldsNothing,
    SessionEnds,
)
"""All invariants. Another one always holds: production code raises no exception ("no-fault", run.run)."""


def watch(world: World) -> Invariants:
    """All invariants, for this world."""
    return Invariants([invariant(world) for invariant in INVARIANTS], Invariant)
