"""One process of the allocator: all of it is production code, except for its ports, which are here.

Events replace threads: the loop makes a round when it is notified or a round is due, requests are carried out
and answered later, and the watcher continues with the events of its stream. The process may be killed between
any two calls of a port.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Protocol

from simulator.active_faults import ActiveFaults
from simulator.cluster import Cluster, Executor
from simulator.event_queue import EventQueue
from simulator.invariants.hooks import Invariants
from simulator.network import ApiConnection, Fate, Network, time_out
from simulator.schedule import FaultKind, Schedule
from simulator.sessions import People
from simulator.template import template
from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator import shutdown
from sparkgen.runtime.allocator.decide.apply_outcomes import MAX_WINDOW
from sparkgen.runtime.allocator.driver.client_session import ClientSession
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox, StartAnswer
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.session import SessionNotes, application_id
from sparkgen.runtime.allocator.driver.tuning import TuningChange
from sparkgen.runtime.allocator.loop import SHORTEST_ROUND, Loop, LoopPorts, due, remembered
from sparkgen.runtime.allocator.observe import causes
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.observe.watcher import Watcher
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.pods.prerequisites import PrerequisitesBackend
from sparkgen.runtime.allocator.pods.template import gang_of
from sparkgen.runtime.allocator.report import log_lines
from sparkgen.runtime.allocator.report.notices import notices
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Notice, Pod
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.observed import Cause
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase
from sparkgen.runtime.kubernetes.answers import Verdict

WatchFactory = Callable[["AllocatorProcess"], "WatchThread"]
"""Creates the watch client of a process."""

TELL = 2.3
"""Seconds to tell a driver that its session ends (sidecar.TELL_SECONDS, WRITTEN_SECONDS)."""
SWEEP = 20.0
"""Seconds for the sweep at the end (sidecar.SWEEP_SECONDS)."""
SECRET = "not one"  # noqa: S105 - no secret: nothing is authenticated here


class Killed(BaseException):
    """The process is killed in the middle of a call."""


class WatchThread(Protocol):
    """Lists and watches pods for a process."""

    def begin(self) -> None:
        """Request a list."""
        ...

    def forget(self) -> None:
        """Stop, because the process has ended."""
        ...


class ProcessSurroundings(Protocol):
    """The part of the world that a process uses."""

    schedule: Schedule
    settings: AllocationSettings
    verbose: bool
    event_queue: EventQueue
    active_faults: ActiveFaults
    network: Network
    cluster: Cluster
    invariants: Invariants
    people: People | None

    def note(self, who: str, text: str) -> None:
        """Write a line of the timeline."""
        ...

    def driver_answers(self) -> bool:
        """Whether the driver's port accepts connections."""
        ...

    def after_round(self, process: AllocatorProcess) -> None:
        """Called after each round of a process."""
        ...

    def allocator_died(self, process: AllocatorProcess) -> None:
        """Called when a process has ended."""
        ...

    def session_ends(self, process: AllocatorProcess) -> None:
        """Called when the report says that the session ends."""
        ...

    def session_over(self, swept: shutdown.SweepResult) -> None:
        """Called when a session is over, and its allocator ends permanently."""
        ...


@dataclass(slots=True)
class Volume:
    """The session volume (loop.SessionStore): like the driver's pod, it outlives the process."""

    first_application_id: str
    notes: SessionNotes = field(default_factory=SessionNotes)

    @property
    def application_id(self) -> str:
        """The application id of the next driver in the pod."""
        return application_id(self.first_application_id, {}, self.notes.drivers)


@dataclass(frozen=True, slots=True)
class SimulatedSession:
    """The store that survives the process (loop.SessionStore), which may be killed around each write."""

    process: AllocatorProcess
    volume: Volume

    def note(self, next_id: int, session: str, first_id: int) -> None:
        """Store the notes for the next process, between a decision and its round; others can act here."""
        self.process.point()
        self._keep(replace(self.volume.notes, next_id=next_id, session=session, first_id=first_id))
        self.process.between_decision_and_round()

    def driver_started(self, application_id: str, settings: AllocationSettings) -> None:
        """Count a driver with this id, so that the next driver gets another id."""
        if application_id == self.volume.application_id:
            self._keep(replace(self.volume.notes, drivers=self.volume.notes.drivers + 1))

    def settings_changed(self, settings: AllocationSettings) -> None:
        """Do nothing: in the simulation, the settings for the next driver are not stored."""

    def _keep(self, notes: SessionNotes) -> None:
        if notes != self.volume.notes:
            self.volume.notes = notes
            self.process.point()


class SimulatedSettings:
    """The settings of the schedule (loop.SettingsSource), as of the last `look`."""

    def __init__(self, world: ProcessSurroundings) -> None:
        self._world = world
        self.settings = world.settings

    def look(self) -> TuningChange | None:
        """The changed settings; None if they have not changed."""
        if self.settings == self._world.settings:
            return None
        self.settings = self._world.settings
        return TuningChange(self.settings)


@dataclass(frozen=True, slots=True)
class SimulatedReporter:
    """Reports rounds (loop.RoundReporter) to the timeline, with the log's lines if it is verbose."""

    process: AllocatorProcess

    def round(self, before: Round | None, now: Round, outcomes: list[ActionOutcome]) -> None:
        """Report a round."""
        self.process.point()
        if self.process.verbose:
            for line in log_lines.lines(before, now, outcomes):
                self.process.note(f"says: {line.text}")
            for notice in notices(before, now):
                self.process.note(f"notices: {notice.reason}: {notice.hindrance}")

    def tuning_changed(self, change: TuningChange) -> None:
        """Report changed settings."""
        self.process.note(f"has other settings: {log_lines.settings(change.settings)}")

    def notice(self, notice: Notice) -> None:
        """Report a notice to users."""
        self.process.note(f"notices: {notice.hindrance}")


class AllocatorProcess:
    """An allocator from its start to its end. `number`: its number, from 1."""

    def __init__(
        self, world: ProcessSurroundings, number: int, attempt: Attempt, volume: Volume, watch: WatchFactory
    ) -> None:
        self.alive = True
        self.sweeps = False
        """Whether it deletes all executors, and ends."""
        self.ends_session = False
        """Whether it has started to end its session."""
        self.began = world.event_queue.now
        self.client: ClientSession | None = None
        """The session in client mode, if drivers are outside the pod; None otherwise."""
        self.number = number
        self.attempt = attempt
        self.volume = volume
        self.random = Random(f"process {world.schedule.seed} {number}")
        self.jumped = 0.0
        """Seconds by which its clock is ahead."""
        self.frozen_until = 0.0
        self.crash_in = -1
        """The number of calls of ports until it is killed; negative: it is not killed."""
        self.in_flight: dict[int, Action] = {}
        """The writes without an answer yet, by a number of their own."""
        self.backlog: deque[Action] = deque()
        """The writes that wait for one of the threads that send them."""
        self.seen: dict[str, Pod] = {}
        """The latest version of each pod that it has received, by UID."""
        self.there_at_list: set[str] = set()
        """The UIDs of the pods that existed when the API server answered its last list."""
        self.lists = 0
        """The number of complete lists that it has read."""
        self.in_gap = True
        """Whether it may have missed something since its last list."""
        self.sent_ids: set[int] = set()
        self.sent_deletes: set[int] = set()
        self.last: Round | None = None
        self.before: Round | None = None
        self.verbose = world.verbose
        self._world = world
        self._writes = 0
        self._ended: list[ActionOutcome] = []
        self._round_at: float | None = None
        self._build(world, watch)
        self.watch_client.begin()
        self._wake()
        if self.client is not None:
            self.later(1.0, self._look_whether_over)

    def _build(self, world: ProcessSurroundings, watch: WatchFactory) -> None:
        """Build the allocator as `Allocator` and `cluster.kubernetes_backend` do."""
        clock_and_random = ClockAndRandom(self.clock, self.random.random)
        self.line = ApiConnection(world.network)
        pod = template(world.schedule.settings)
        self.kube = KubernetesBackend(
            self.line, self.attempt, pod, clock=self.clock, wall=lambda: 0.0, random=self.random.random
        )
        self.kube.set_application_id(self.volume.application_id)
        wanted = [partial(self.kube.create_secret, SECRET)]
        if gang := gang_of(pod):
            wanted.append(partial(self.kube.create_pod_group, gang))
        self.world = PrerequisitesBackend(self.kube, [partial(_made, create) for create in wanted])
        people, session = world.people, self.volume.notes.session
        self.resumed = session
        """The session that the previous process has stored."""
        rules = None if people is None else people.rules(session)
        self.mailbox = DriverMailbox(f"p{self.number}", self.clock, rules)
        if people is not None and not people.plan.notebook:
            self.client = ClientSession(self.clock, resumed=people.command_met or bool(session))
        self.watcher = Watcher(
            self.world, PodView(self.attempt), clock_and_random, self.mailbox.notify, self._gap
        )
        self.watch_client = watch(self)
        notes = self.volume.notes
        ports = LoopPorts(
            actions=self,
            snapshot=lambda: self.watcher.view.snapshot(),
            mailbox=self.mailbox,
            settings_source=SimulatedSettings(world),
            session=SimulatedSession(self, self.volume),
            reporter=SimulatedReporter(self),
            clock_and_random=clock_and_random,
            set_application_id=self.kube.set_application_id,
        )
        self.loop = Loop(ports, remembered(notes.next_id, notes.session, notes.first_id))

    def _gap(self, reason: Hindrance) -> None:
        self.note(f"listing all executors again: {reason}")

    # --- its time, and its end ------------------------------------------------------------------------

    def clock(self) -> float:
        """The process's monotonic clock: it does not start at 0, and may jump."""
        return 5000.0 + self._world.event_queue.now + self.jumped

    def note(self, text: str) -> None:
        """Write a line of the timeline."""
        self._world.note(f"allocator {self.number}", text)

    def now(self, what: Callable[[], None]) -> None:
        """Call `what` in the process; not if it is dead, and later if it is paused."""
        event_queue = self._world.event_queue
        if not self.alive:
            return
        if event_queue.now < self.frozen_until:
            event_queue.at(self.frozen_until, lambda: self.now(what))
            return
        try:
            what()
        except Killed:
            self.die("is killed")
            return
        if self.alive and self.mailbox.wait(0.0):
            self._wake()

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Call `what` in the process after some seconds."""
        self._world.event_queue.after(seconds, lambda: self.now(what))

    def point(self) -> None:
        """Mark a point at which the process may be killed. Raises Killed."""
        if self.crash_in < 0:
            return
        self.crash_in -= 1
        if self.crash_in < 0:
            raise Killed

    def die(self, how: str) -> None:
        """End the process; requests that it has sent still arrive."""
        self.note(how)
        self.alive = False
        self.watch_client.forget()
        self._world.allocator_died(self)

    def told_to_end(self, seconds: float) -> bool:
        """Handle SIGTERM (`sidecar._until_over`). Executors of a running driver stay.

        Returns whether all executors were deleted.
        """
        world = self._world
        if self.client is not None:
            return self._end_session("its pod was asked to stop", seconds)
        stopped = self.mailbox.target().phase is DriverPhase.STOPPED
        time = shutdown.ClockAndSleep(self.clock, self.wait)
        if not stopped and shutdown.driver_runs_on(world.driver_answers, self.kube.driver_pod, time):
            self.mailbox.close(leave=False)
            self.die("ends, because it was asked to stop while the driver runs")
            return False
        swept = self._sweep(seconds)
        self.die(f"ends: {len(swept.asked)} deleted, left: {swept.left}")
        return swept.left == frozenset()

    def _look_whether_over(self) -> None:
        """Check every second whether the session is over, as `sidecar._until_over` does."""
        why = "" if self.client is None or self.sweeps else self.client.why_over(self.mailbox.heard_at)
        if why:
            self._world.invariants.session_over(self, why)
            self._end_session(why, SWEEP)
        elif not self.sweeps:
            self.later(1.0, self._look_whether_over)

    def _end_session(self, why: str, seconds: float) -> bool:
        """Tell the driver, then delete all executors (`sidecar._end_session`); returns its success."""
        self.note(f"ends the session: {why}")
        self.ends_session = True
        self.mailbox.fail(Hindrance(Code.SESSION_ENDED, why))
        self._world.session_ends(self)
        self.wait(TELL)
        swept = self._sweep(seconds)
        self._world.session_over(swept)
        self.die(f"ends: {len(swept.asked)} deleted, left: {swept.left}")
        return swept.left == frozenset()

    def _sweep(self, seconds: float) -> shutdown.SweepResult:
        """Do the same as `Allocator.stop` and `Allocator.sweep`, including its waits."""
        self.sweeps = True
        self.mailbox.close(leave=True)
        self.watch_client.forget()
        self.backlog.clear()
        deadline = self._world.event_queue.now + seconds / 2
        while self.in_flight and self._world.event_queue.now < deadline:  # ActionPool.finish
            self.wait(0.5)
        self._ended.clear()
        time = shutdown.ClockAndSleep(self.clock, self.wait)
        return shutdown.sweep(self.world, self, PodView(self.attempt), time, seconds)

    def wait(self, seconds: float) -> None:
        """Wait, while all other events happen. Raises Killed if the process ends meanwhile."""
        self._world.event_queue.run_until(self._world.event_queue.now + seconds)
        if not self.alive:
            raise Killed

    # --- the loop's thread ----------------------------------------------------------------------------

    def _wake(self) -> None:
        """Make a round as soon as the shortest time between rounds has passed (`Loop.run`)."""
        last = self.clock() if self.last is None else self.last.now + SHORTEST_ROUND
        self._round_in(max(0.0, last - self.clock()))

    def _round_in(self, seconds: float) -> None:
        at = self._world.event_queue.now + seconds
        if self._round_at is not None and self._round_at <= at:
            return
        self._round_at = at
        self._world.event_queue.at(at, lambda: self.now(lambda: self._round(at)))

    def _round(self, at: float) -> None:
        if self._round_at != at or self.mailbox.closed:
            return
        self._round_at = None
        made = self.loop.step()
        self.before, self.last = self.last, made
        self._world.after_round(self)
        self._round_in(max(0.0, due(made) - self.clock()))

    def between_decision_and_round(self) -> None:
        """Let others act during a decision: an executor may be told to start at this moment."""
        if self._world.active_faults.holds(FaultKind.MEANWHILE):
            self._world.cluster.ask_all()

    # --- requests (WaitableActionRunner) --------------------------------------------------------------

    def start(self, actions: Iterable[Action]) -> None:
        """Send these writes, at most MAX_WINDOW at a time."""
        for action in actions:
            self.point()
            if len(self.in_flight) < MAX_WINDOW:
                self._send(action)
            else:
                self.backlog.append(action)
        self.point()

    def outcomes(self) -> list[ActionOutcome]:
        """The outcomes that were answered since the last call."""
        found, self._ended = self._ended, []
        return found

    def settle(self, seconds: float) -> None:
        """Wait for the answers, at most `seconds`."""
        deadline = self._world.event_queue.now + seconds
        while self.in_flight and self._world.event_queue.now < deadline:
            self.wait(0.05)

    def _send(self, action: Action) -> None:
        network = self._world.network
        method = "POST" if isinstance(action, Create) else "DELETE"
        fate = network.fate(method)
        self._writes += 1
        number = self._writes
        self.in_flight[number] = action
        again = " again" if isinstance(action, Create) and action.again else ""
        why = "" if isinstance(action, Create) else f" ({action.why}{', forced' * action.forced})"
        self.note(f"sends {method} {action.id}{again}{why}: {fate.value}")
        (self.sent_ids if isinstance(action, Create) else self.sent_deletes).add(action.id)
        self._world.invariants.sent(self, action)
        network.event_queue.after(network.delay(), lambda: self._serve(number, action, method, fate))

    def _serve(self, number: int, action: Action, method: str, fate: Fate) -> None:
        """Carry out a request at the API server, even if the process that sent it has died meanwhile."""
        network = self._world.network
        self.line.fate = fate
        self._world.invariants.served(self, action)
        outcome = self.world.create(action) if isinstance(action, Create) else self.world.delete(action)
        self.line.fate = Fate.CARRIED_OUT
        later = time_out(fate) or network.delay() + network.slowness(method)
        met = (
            Fate.UNREACHABLE if network.active_faults.holds(FaultKind.AWAY) else fate
        )  # the server may have become unreachable meanwhile
        self.later(later, lambda: self._answered(number, outcome, met))

    def _answered(self, number: int, outcome: ActionOutcome, fate: Fate) -> None:
        if self.in_flight.pop(number, None) is None:
            return
        words = f": {outcome.hindrance}" if outcome.hindrance else ""
        self.note(f"learns of {outcome.action.id}: {outcome.answer.value}{words}")
        self._world.invariants.answered(self, outcome, fate)
        if self.backlog:
            self._send(self.backlog.popleft())
        self._ended.append(outcome)
        self.mailbox.notify()

    # --- questions to the process ---------------------------------------------------------------------

    def start_answer(self, id_: int) -> StartAnswer | None:
        """The start answer for an executor; None if the process is dead or paused."""
        if not self.alive or self._world.event_queue.now < self.frozen_until:
            return None
        word = self.mailbox.start_answer(id_, 0.0)
        self.now(lambda: None)
        return word

    def has_seen(self, *pods: Pod) -> None:
        """Record that it has received these pods."""
        for pod in pods:
            self.seen[pod["metadata"]["uid"]] = pod

    def saw_end_of(self, executor: Executor) -> bool:
        """Whether it has received the cause of this executor's end, or of its imminent end."""
        pod = self.seen.get(executor.uid)
        return pod is not None and causes.departure_of(pod).cause is not Cause.DELETED


def _made(create: Callable[[], Verdict], order: Create) -> ActionOutcome:
    """The outcome for an executor, given whether an object that it needs was created (`cluster._made`)."""
    said = create()
    return ActionOutcome(order, said.answer, said.hindrance, said.retry_after)
