"""What has to hold in every schedule: a class each, whose docstring is the invariant, and its code the check.

They look at the model's truth, which the allocator cannot see, and never at how the allocator works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simulator.driver import FIRST_SESSION
from simulator.invariants.bounds import BoundedCalls, BoundedMemory, NoLeak, NoSpin, Patience
from simulator.invariants.files import EndsWithoutFiles
from simulator.invariants.gangs import BeginsWithItsMinimum, GangTogether, NoDeadlock
from simulator.invariants.gates import BoundedUnschedulable, KeepsItsPlace, WaitsForRegistration
from simulator.invariants.hooks import Invariants
from simulator.invariants.invariant import Invariant
from simulator.invariants.locality import WishesFollowHints
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
    """No executor id is used twice: over all restarts, a new one is asked for once, and one pod registers."""

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
    """No executor that Spark counts on is deleted unasked.

    It may be when it has ended or is being deleted anyway, when its node is lost, or when it was created for
    an earlier driver of the same pod. So it may when its driver is silent for a minute where drivers come and
    go, or when their session is told to end.
    """

    name = "registered-stays"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._session: dict[int, str] = {}
        self._given_up: set[int] = set()
        """Those that were there while their driver was silent for so long: all go, whatever it says then."""

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
    """None is created that is not wanted: what is there, and what was asked for, is at most the target.

    What an allocator could not know does not count (Presence).
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
    """Whatever the driver says, none is created above the reviewed maximum of all profiles together.

    What leaves counts until it has ended. What an allocator could not know does not count, as above.
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
    """Spark is never told that an executor is gone whose pod is there, neither ended nor being deleted."""

    name = "nobody-alive-is-dead"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if not now.decision.gone:
            return
        for executor in self.world.cluster.executors.values():
            if executor.id in now.decision.gone and self.world.is_alive(executor):
                raise self.broken(f"executor {executor.id} is reported as gone, but it runs")


class NoPartialView(Invariant):
    """Nothing is concluded from a partial view.

    No executor is created before a whole list was read, and none is called gone that is not shown during a
    gap, if it was not called so before.
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
    """Every loss is told once, with a cause that is true.

    Blame, above all: a loss counts against the application only when the application did it. When the pod was
    removed while nobody saw it, "deleted" and "unknown" are true, too. A verdict does not change afterwards.
    Whoever speaks for the driver is believed: an executor that it calls leaving has left by its word.
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
        asked |= last is not None and executor.id < last.decision.memory.first_id  # of an earlier driver
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
    """When faults stop, the target is reached, exactly, and nothing more is there."""

    name = "target-reached"

    def begins_quiet(self) -> None:
        missing = self.world.what_is_missing()
        if missing:
            raise self.broken(missing)


FAILURES = 3
"""Less is no reason to stop: schedules allow two executors to end by the application's fault."""


class NoBlame(Invariant):
    """No application is stopped for what it did not do: faults of the cluster never end it.

    Where its files are gone, it may stop when at least the third executor has ended by its fault.
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
    Patience,
    BoundedMemory,
    NoLeak,
    NoBlame,
    EndsWithoutFiles,
    NoSpin,
    NoTakeover,
    OneSession,
    NobodyHoldsNothing,
    SessionEnds,
)
"""All of them. One more holds everywhere: production code raises nothing ("no-fault", world.play)."""


def watch(world: World) -> Invariants:
    """All invariants, looking at this world."""
    return Invariants([invariant(world) for invariant in INVARIANTS], Invariant)
