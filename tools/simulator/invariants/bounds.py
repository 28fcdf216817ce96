"""The invariants about amounts: calls, pauses, memory, rounds, and remaining objects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simulator.driver import FIRST_SESSION
from simulator.invariants.invariant import Invariant
from simulator.network import RETRY_AFTER, Fate
from sparkgen.runtime.allocator.decide.apply_outcomes import MAX_WINDOW
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.loop import LONGEST_ROUND
from sparkgen.runtime.allocator.observe.view import MAX_VANISHED
from sparkgen.runtime.allocator.shutdown import AGAIN
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create
from sparkgen.runtime.kubernetes.answers import Answer

if TYPE_CHECKING:
    from simulator.driver import Driver
    from simulator.process import AllocatorProcess
    from simulator.world import World


class BoundedCalls(Invariant):
    """Calls are bounded: never many at a time, none twice without a reason, and none without something to do.

    At most 16 writes are in flight, and at most 16 wait for their turn. A creation is repeated only after an
    error or no answer. A deletion is not repeated within two seconds, or one second if the allocator ends.
    Once the target is reached, and without faults, there is no write and no list.
    """

    name = "bounded-calls"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._doubtful: set[int] = set()
        self._deleted: dict[tuple[int, int], float] = {}
        self._calls: dict[str, int] = {}

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        if isinstance(action, Create):
            if action.again and action.id not in self._doubtful:
                raise self.broken(
                    f"executor {action.id} is requested again, although the first request was answered"
                )
            self._doubtful.discard(action.id)
            return
        now, key = process.clock(), (process.number, action.id)
        pause = AGAIN - 0.001 if process.sweeps else 2.0
        if now - self._deleted.get(key, -100.0) < pause:
            raise self.broken(f"executor {action.id} is deleted a second time without a pause")
        self._deleted[key] = now

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if len(process.in_flight) > MAX_WINDOW or len(process.backlog) > MAX_WINDOW:
            raise self.broken(
                f"{len(process.in_flight)} writes are in flight, and {len(process.backlog)} wait"
            )

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        if outcome.answer is not Answer.DONE:
            self._doubtful.add(outcome.action.id)

    def begins_quiet(self) -> None:
        self._calls = dict(self.world.server.calls)

    def ends_quiet(self) -> None:
        for kind, count in self.world.server.calls.items():
            more = count - self._calls.get(kind, 0)
            if more > (1 if kind == "WATCH pods" else 0):
                raise self.broken(f"{more} x {kind} while there is nothing to do")


class NoneWhileHeld(Invariant):
    """While the application is held, no new executor is created.

    `target-reached` has the rest: they all leave, and the wanted number is reached after the hold.
    """

    name = "none-while-held"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        created = [one.id for one in now.decision.actions if isinstance(one, Create) and not one.again]
        if now.settings.hold and created:
            raise self.broken(f"executors {created} are created while the application is held")


@dataclass(frozen=True, slots=True)
class RefusalBackoff:
    """The last refused round of creations: its number in a row, and its time by both clocks."""

    level: int
    began: float
    clock: float

    @property
    def pause(self) -> float:
        """The shortest pause after it; the longest is twice that. Refusals within it are of this round."""
        return 0.0 if not self.level else min(60.0, 0.5 * (1 << min(self.level - 1, 10))) - 0.001


NO_ROUND = RefusalBackoff(0, 0.0, 0.0)


class Patience(Invariant):
    """The allocator waits after a refusal.

    After 429 with a time, no write is sent before this has passed. After a refused creation, no new executor
    is created during a pause, which doubles with each refused round, from half a second to a minute. The
    count of rounds starts again with another driver in the pod.
    """

    name = "patience"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._busy_until: dict[int, float] = {}
        self._refused: dict[tuple[int, str], RefusalBackoff] = {}
        self._session = ""

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        now = process.clock()
        ends = self.world.over or process.sweeps  # it has only some seconds left, and does not wait
        if now < self._busy_until.get(process.number, 0.0) and not ends:
            raise self.broken(f"executor {action.id} is requested before the time that the server set")
        refused = self._refused.get(self._key(process), NO_ROUND)
        if isinstance(action, Create) and not action.again and now < refused.clock + refused.pause:
            raise self.broken(
                f"executor {action.id} is created during the pause after {refused.level} refusals"
            )

    def _key(self, process: AllocatorProcess) -> tuple[int, str]:
        last = process.mailbox.last
        session = last.target.session if last and last.target.session else FIRST_SESSION
        if session != self._session:
            self._session = session
            self._refused.clear()
        return process.number, session

    def answered(self, process: AllocatorProcess, outcome: ActionOutcome, fate: Fate) -> None:
        now, number, key = process.clock(), process.number, self._key(process)
        if fate is Fate.BUSY and now >= self._busy_until.get(number, 0.0):
            self._busy_until[number] = now + float(RETRY_AFTER) - 0.001
        if not isinstance(outcome.action, Create):
            return
        refused = self._refused.get(key, NO_ROUND)
        if outcome.answer is Answer.DONE:
            self._refused[key] = NO_ROUND
        elif outcome.answer in (Answer.REFUSED, Answer.PERMANENT):
            # The world's clock, because the allocator's may have jumped between two answers of one round.
            began = self.world.event_queue.now
            if not refused.level or began > refused.began + 2 * refused.pause:
                self._refused[key] = RefusalBackoff(refused.level + 1, began, now)
            elif began > refused.began + refused.pause:  # of this round or of the next: it is unknown which
                self._refused[key] = replace(refused, began=began)


class BoundedMemory(Invariant):
    """Memory is bounded by the present executors: once nothing is to be done, ended ones are forgotten."""

    name = "bounded-memory"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if len(now.snapshot.vanished) > MAX_VANISHED:
            raise self.broken(f"{len(now.snapshot.vanished)} executors that are gone are still remembered")

    def ends_quiet(self) -> None:
        process, driver = self.world.process, self.world.driver
        if process is None or process.last is None or driver is None:
            raise self.broken("there is no allocator, or no driver")
        memory, snapshot = process.last.decision.memory, process.last.snapshot
        there, named = set(snapshot.executors), set(driver.state.statuses)
        kept = {
            "requests": set(memory.requests),
            "removals": set(memory.removals),
            "losses": set(memory.losses) - there - named - set(snapshot.vanished),
            "lost": set(memory.lost_at) - there - named,
            "known": set(memory.known) - there - named,
            "refused": set(memory.refusing),
            "started": set(process.mailbox.started()) - there - named,
            "shown": there - {executor.id for executor in self.world.executors_there()},
        }
        for what, ids in kept.items():
            if ids:
                raise self.broken(f"{what}: {sorted(ids)} are still remembered, but have ended")


class NoLeak(Invariant):
    """Nothing is left behind.

    If the allocator has reported that it left nothing, the pods that existed before are gone. After the
    driver's pod is deleted, no object of the attempt remains and nothing runs, whatever faults there were.
    """

    name = "no-leak"

    def after_sweep(self, *, swept_all: bool) -> None:
        if not swept_all:
            return
        for executor in self.world.executors_there():
            if executor.made_at < self.world.swept_at and self.world.cluster.is_well(executor):
                raise self.broken(
                    f"the pod of executor {executor.id} still exists after the allocator has ended"
                )

    def at_the_end(self) -> None:
        if self.world.server.pods:
            raise self.broken(f"{', '.join(sorted(self.world.server.pods))} are never deleted")
        if self.world.server.secrets:
            raise self.broken(f"Secret {', '.join(self.world.server.secrets)} is never deleted")
        if self.world.server.pod_groups:
            raise self.broken(f"PodGroup {', '.join(self.world.server.pod_groups)} is never deleted")
        running = [one for one in self.world.cluster.running() if self.world.cluster.nodes[one.host].takes]
        if running:
            raise self.broken(f"executors {[one.id for one in running]} never end")


MOST_REFUSALS = 4


class NoSpin(Invariant):
    """The loop does not spin: with nothing to do, it makes few more rounds than its health check needs.

    Allocator and driver do not spin together either: the same executor is refused at most four times.
    """

    name = "no-spin"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._rounds: Counter[int] = Counter()
        self._quiet_from: int | None = None
        self._refused: Counter[tuple[str, int]] = Counter()

    def refuses(self, driver: Driver, id_: int) -> None:
        self._refused[driver.session, id_] += 1
        if self._refused[driver.session, id_] > MOST_REFUSALS:
            raise self.broken(f"executor {id_} is refused repeatedly")

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        second = int(self.world.event_queue.now)
        self._rounds[second] += 1
        if self._rounds[second] > 51:
            raise self.broken("more than 51 rounds in one second")

    def begins_quiet(self) -> None:
        self._quiet_from = int(self.world.event_queue.now) + 1

    def ends_quiet(self) -> None:
        if self._quiet_from is None:
            return
        seconds = self.world.event_queue.now - self._quiet_from
        rounds = sum(count for second, count in self._rounds.items() if second >= self._quiet_from)
        if rounds > 4 + 3 * seconds / LONGEST_ROUND:
            raise self.broken(f"{rounds} rounds in {seconds:.0f} s with nothing to do")
