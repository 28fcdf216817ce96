"""Watcher, action pool, loop, shutdown and Secret: each alone, with a backend in memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.action_pool import ActionPool
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox, StartAnswer
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import TuningChange
from sparkgen.runtime.allocator.loop import Loop, LoopPorts, remembered
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.observe.watcher import Watcher, pause_after
from sparkgen.runtime.allocator.pods.prerequisites import PrerequisitesBackend
from sparkgen.runtime.allocator.shutdown import ClockAndSleep, driver_answers, sweep
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import Notice, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.observed import ListFailure, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget
from sparkgen.runtime.kubernetes.answers import Answer
from tests.unit.runtime.allocator.memory_backend import MemoryBackend
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT

SETTINGS = AllocationSettings(dynamic=True, maximum=10)


def until(condition: Callable[[], Any]) -> None:
    """Wait until it comes true."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


# --- the loop, in a time of its own ---------------------------------------------------------------------


@dataclass
class Simulated:
    """A loop without threads: actions are done at once, time stands still, everything is remembered."""

    now: float = 0.0
    world: MemoryBackend = field(default_factory=lambda: MemoryBackend(ATTEMPT))
    settings: AllocationSettings = SETTINGS
    log: list[str] = field(default_factory=list)
    done: list[ActionOutcome] = field(default_factory=list)
    change: TuningChange | None = None
    before_publication: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.mailbox = DriverMailbox("t", lambda: self.now)
        self.view = PodView(ATTEMPT)
        clock_and_random = ClockAndRandom(lambda: self.now, lambda: 0.5)
        spoken = self.log.append
        self.loop = Loop(
            LoopPorts(self, self.snapshot, self.mailbox, self, self, self, clock_and_random, spoken),
            remembered(5, "", 1),
        )

    def snapshot(self) -> Snapshot:
        """A whole list at each look."""
        self.view = self.view.with_list(self.world.list(), self.now, self.now)
        return self.view.snapshot()

    def start(self, actions: Iterable[Action]) -> None:
        """Act at once."""
        for action in actions:
            create = isinstance(action, Create)
            self.log.append(f"{'create' if create else 'delete'} {action.id}")
            self.done.append(
                self.world.create(action) if isinstance(action, Create) else self.world.delete(action)
            )

    def outcomes(self) -> list[ActionOutcome]:
        """All since the last time."""
        found, self.done = self.done, []
        return found

    def look(self) -> TuningChange | None:
        """Give the change that a test has put here."""
        found, self.change = self.change, None
        return found

    def note(self, next_id: int, session: str, first_id: int) -> None:
        """Remember the order of what is kept and what is done."""
        self.before_publication()
        if f"note {next_id}" not in self.log:
            self.log.append(f"note {next_id}")

    def driver_started(self, application_id: str, settings: AllocationSettings) -> None:
        """A driver runs."""
        self.log.append(f"spoke {application_id}")

    def settings_changed(self, settings: AllocationSettings) -> None:
        """The next driver starts with them."""
        self.log.append(f"tuned to at most {settings.maximum}")

    def round(self, before: Round | None, now: Round, outcomes: list[ActionOutcome]) -> None:
        """Nothing is told."""

    def tuning_changed(self, change: TuningChange) -> None:
        """Remember it."""
        self.log.append("tuned")

    def notice(self, notice: Notice) -> None:
        """Nothing is told."""


def running(count: int, **more: Any) -> DriverTarget:
    """A driver that wants executors."""
    return DriverTarget(
        phase=DriverPhase.RUNNING,
        session="s",
        revision=more.pop("revision", 1),
        application_id="pi-9",
        dynamic=True,
        executors={0: count},
        **more,
    )


def test_ids_are_kept_before_they_are_used() -> None:
    """Whoever is killed between the two lines leaves a gap, and no id is ever used twice."""
    simulated = Simulated()
    simulated.mailbox.receive(running(2))
    simulated.loop.step()
    assert simulated.log == ["pi-9", "spoke pi-9", "note 7", "create 5", "create 6"]


def test_a_driver_is_noticed_once() -> None:
    """Every state has its application id."""
    simulated = Simulated()
    for revision in (1, 2):
        simulated.mailbox.receive(running(0, revision=revision))
        simulated.loop.step()
    assert simulated.log.count("pi-9") == 1


def test_settings_are_looked_at_once_in_a_while() -> None:
    """Not at each of a hundred rounds within a second."""
    simulated = Simulated()
    for now in (0.0, 0.5, 0.9):
        simulated.now, simulated.change = now, TuningChange(SETTINGS)
        simulated.loop.step()
    assert simulated.log.count("tuned") == 1
    simulated.now = 1.0
    simulated.loop.step()
    assert simulated.log.count("tuned") == 2


def test_a_good_change_of_the_settings_is_for_the_next_driver() -> None:
    """A bad edit changes nothing that a driver starts with."""
    simulated = Simulated()
    for now, change in enumerate(
        (TuningChange(replace(SETTINGS, maximum=40)), TuningChange(SETTINGS, "bad"), None)
    ):
        simulated.now, simulated.change = float(now), change
        simulated.loop.step()
    assert [line for line in simulated.log if line.startswith("tuned to")] == ["tuned to at most 40"]


def test_an_executor_that_was_started_meanwhile_is_not_deleted() -> None:
    """Told to start between decision and publication, it may register: it is refused first."""
    simulated = Simulated()
    simulated.world.held = True
    simulated.mailbox.receive(running(1))
    simulated.loop.step()
    simulated.loop.step()
    simulated.mailbox.receive(running(0, revision=2))
    words: list[StartAnswer] = []
    simulated.before_publication = lambda: words.append(simulated.mailbox.start_answer(5, 0.0))
    made = simulated.loop.step()
    assert words[0] is StartAnswer.GO
    assert made.decision.actions == ()
    assert made.decision.memory.refusing == {5}


def test_an_executor_that_was_not_started_is_deleted_at_once() -> None:
    """The other half of the rule: nothing has to be asked."""
    simulated = Simulated()
    simulated.world.held = True
    simulated.mailbox.receive(running(1))
    simulated.loop.step()
    simulated.loop.step()
    simulated.mailbox.receive(running(0, revision=2))
    assert simulated.loop.step().decision.actions == (Delete(5, "uid-5", why="more than Spark wants"),)


# --- the watcher ----------------------------------------------------------------------------------------


TOO_OLD = Hindrance(Code.GONE, "too old")
NO_RIGHT = Hindrance(Code.FORBIDDEN, "no right yet")


class Script(MemoryBackend):
    """A world whose watches end as a test says: `ends` has a reason and a pause for each."""

    def __init__(self, ends: list[tuple[Hindrance, float]]) -> None:
        super().__init__(ATTEMPT)
        self.ends = ends
        self.lists = 0

    def list(self) -> PodList:
        """Count the lists."""
        self.lists += 1
        return super().list()

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """End at once, as long as there are ends."""
        if self.ends:
            raise WatchEnded(*self.ends.pop(0))
        return super().watch(version)


@pytest.fixture
def follow() -> Iterator[Callable[[MemoryBackend], tuple[Watcher, list[Hindrance]]]]:
    """A function: follow a world on a thread, until the end of the test."""
    stops: list[Callable[[], None]] = []

    def begin(world: MemoryBackend) -> tuple[Watcher, list[Hindrance]]:
        told: list[Hindrance] = []
        clock_and_random = ClockAndRandom(time.monotonic, lambda: 0.0)
        watcher = Watcher(world, PodView(ATTEMPT), clock_and_random, lambda: None, told.append)
        thread = threading.Thread(target=watcher.run, daemon=True)
        thread.start()

        def stop() -> None:
            watcher.stop()
            world.close()
            thread.join(10)
            assert not thread.is_alive()

        stops.append(stop)
        return watcher, told

    yield begin
    for stop in stops:
        stop()


def test_a_fault_of_its_own_ends_no_watcher(
    follow: Callable[[MemoryBackend], tuple[Watcher, list[Hindrance]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an answer has led to: it is told, and asked for again."""
    monkeypatch.setattr("sparkgen.runtime.allocator.observe.watcher.LONGEST_LIST_PAUSE", 0.01)

    class Odd(MemoryBackend):
        """A world whose first list is none."""

        lists = 0

        def list(self) -> PodList:
            """Fail in a way that nobody has thought of."""
            self.lists += 1
            return None if self.lists == 1 else super().list()  # type: ignore[return-value]

    watcher, told = follow(Odd(ATTEMPT))
    until(lambda: watcher.view.complete)
    assert told[0].code == Code.INTERNAL_ERROR
    assert "AttributeError" in told[0].message


def test_the_view_follows(follow: Callable[[MemoryBackend], tuple[Watcher, list[Hindrance]]]) -> None:
    """One list, and events from then on."""
    world = Script([])
    watcher, told = follow(world)
    until(lambda: watcher.view.complete)
    world.create(Create(1, 0))
    until(lambda: 1 in watcher.view.snapshot().executors)
    assert (world.lists, told) == (1, [])


def test_a_gap_is_closed_by_a_list(
    follow: Callable[[MemoryBackend], tuple[Watcher, list[Hindrance]]],
) -> None:
    """After 410 the whole list is read again, once, after the asked pause; the reason is told."""
    world = Script([(TOO_OLD, 0.3)])
    began = time.monotonic()
    watcher, told = follow(world)
    until(lambda: world.lists == 2 and watcher.view.complete)
    assert time.monotonic() - began > 0.3
    assert (told, watcher.gaps) == ([TOO_OLD], 1)


def test_why_no_list_is_given() -> None:
    """The words of the last list that failed, and how many in a row are permanent; a watch's end is none."""
    watcher = Watcher(
        MemoryBackend(ATTEMPT),
        PodView(ATTEMPT),
        ClockAndRandom(lambda: 0.0, lambda: 0.0),
        lambda: None,
        lambda _: None,
    )
    seen = []
    no, busy = Hindrance(Code.FORBIDDEN, "no"), Hindrance(Code.TOO_MANY_REQUESTS, "busy")
    for end in (WatchEnded(no, permanent=True), WatchEnded(no, permanent=True), WatchEnded(busy)):
        watcher.begin()
        watcher.on_end(end)
        seen.append(watcher.view.snapshot().list_failure)
    assert seen == [ListFailure(no, 1), ListFailure(no, 2), ListFailure(busy, 0)]
    watcher.on_list(PodList((), "1"), watcher.begin())
    watcher.on_end(WatchEnded(TOO_OLD))
    assert (watcher.view.complete, watcher.view.list_failure) == (False, ListFailure())


def test_pauses_grow_and_are_spread() -> None:
    """A first list again within a second, then later and later, up to half a minute."""
    assert pause_after(0, 0.0) == 0.0
    assert [pause_after(rounds, 1.0) for rounds in (0, 1, 2, 3, 9)] == [1.0, 2.0, 4.0, 8.0, 30.0]
    assert pause_after(3, 0.0) == 4.0


# --- hands ----------------------------------------------------------------------------------------------


class Broken(MemoryBackend):
    """A world with a fault of ours in it."""

    def create(self, order: Create) -> ActionOutcome:
        """Fail."""
        raise KeyError("spec")


def test_a_fault_of_ours_is_an_outcome_too() -> None:
    """Whether it was done is not known: it is asked for again."""
    rung = threading.Event()
    pool = ActionPool(Broken(ATTEMPT), rung.set)
    pool.start([Create(1, 0)])
    assert rung.wait(10)
    fault = Hindrance(Code.INTERNAL_ERROR, "KeyError: 'spec'")
    assert pool.outcomes() == [ActionOutcome(Create(1, 0), Answer.UNKNOWN, fault)]
    assert pool.answers == {("create", "lost"): 1}
    pool.close()


# --- the end --------------------------------------------------------------------------------------------


def swept(world: MemoryBackend, seconds: float = 5.0) -> tuple[frozenset[int], frozenset[int] | None]:
    """What the end of this world came to, in a time that only passes where it is waited."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pool = ActionPool(world, lambda: None)
    found = sweep(world, pool, PodView(ATTEMPT), ClockAndSleep(lambda: now[0], sleep), seconds)
    pool.close()
    return found.asked, found.left


def test_nothing_is_left() -> None:
    """Also an executor that has ended, and one that nobody remembers."""
    world = MemoryBackend(ATTEMPT)
    for id_ in (1, 2, 9):
        world.create(Create(id_, 0))
    world.end(2, 0)
    assert swept(world) == ({1, 2, 9}, frozenset())
    assert world.pods == {}


def test_what_is_on_its_way_is_not_waited_for() -> None:
    """The kubelet ends it; the job does not wait for that."""
    world = MemoryBackend(ATTEMPT)
    world.sticky = True
    world.create(Create(1, 0))
    world.delete(Delete(1))
    assert swept(world) == (frozenset(), frozenset())


class Deaf(MemoryBackend):
    """A world that answers lists after so many failures, and ignores deletions."""

    failures = 0

    def list(self) -> PodList:
        """Fail, as long as it has to."""
        if self.failures:
            self.failures -= 1
            raise WatchEnded(Hindrance(Code.NO_ANSWER, "no answer"))
        return super().list()

    def delete(self, order: Delete) -> ActionOutcome:
        """Do nothing."""
        return ActionOutcome(order, Answer.UNKNOWN)


def test_it_is_tried_again_for_a_bounded_time() -> None:
    """What could not be deleted is named; nobody knows when there was no answer at all."""
    world = Deaf(ATTEMPT)
    world.create(Create(1, 0))
    world.failures = 2
    assert swept(world) == ({1}, {1})
    world.failures = 1000
    assert swept(world) == (frozenset(), None)


def test_whether_a_driver_still_runs() -> None:
    """Nobody listens at port 1."""
    assert not driver_answers("127.0.0.1", 1)


# --- the Secret -----------------------------------------------------------------------------------------


def test_the_secret_comes_before_the_first_executor() -> None:
    """As long as it cannot be had, no executor is asked for; then it is not asked for again."""
    world = MemoryBackend(ATTEMPT)
    answers = [Answer.REFUSED, Answer.DONE]
    asked: list[str] = []

    def create_secret(order: Create) -> ActionOutcome:
        asked.append(json.dumps(order.id))
        return ActionOutcome(order, answers.pop(0), NO_RIGHT, 2.0)

    guarded = PrerequisitesBackend(world, [create_secret])
    assert guarded.create(Create(1, 0)) == ActionOutcome(Create(1, 0), Answer.REFUSED, NO_RIGHT, 2.0)
    assert world.calls == []
    assert guarded.create(Create(1, 0)).answer is Answer.DONE
    assert guarded.create(Create(2, 0)).answer is Answer.DONE
    assert (asked, world.calls) == (["1", "1"], ["create 1", "create 2"])
