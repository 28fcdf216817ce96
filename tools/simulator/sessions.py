"""Who is around an allocator where drivers come and go: a command, and one driver after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any, Protocol

from simulator.driver import HEARTBEAT, NEEDS, AllocatorBeside, Driver, DriverSurroundings
from simulator.invariants.hooks import InvariantBroken
from simulator.schedule import FaultKind, SessionEnd, SessionPlan
from sparkgen import contract
from sparkgen.runtime.allocator.driver import protocol, sessions
from sparkgen.runtime.allocator.driver.client_session import ClientSession
from sparkgen.runtime.allocator.driver.sessions import SessionAwaited, SessionRules, SessionTaken

SILENCE = sessions.SILENCE
"""Seconds without a word after which somebody is gone."""
BEGINS = 2.0
"""Seconds until the command has forwarded its port, and the first driver's JVM has started a second later."""
MOST_AFTER_ALL = 150.0
"""Seconds from when nobody is there any more until all is over: silence, a look, a restart, the end."""


class SessionProcess(AllocatorBeside, Protocol):
    """What people have to do with an allocator."""

    began: float
    frozen_until: float
    client: ClientSession | None

    def now(self, what: Callable[[], None]) -> None:
        """Let something happen in it."""
        ...


class SessionSurroundings(DriverSurroundings, Protocol):
    """What people need of the world that they are in."""

    driver: Driver | None
    over: bool

    @property
    def process(self) -> SessionProcess | None:
        """The allocator that runs; None between two."""
        ...

    @property
    def application_id(self) -> str:
        """The id that the next driver has."""
        ...

    def first_targets(self) -> dict[int, int]:
        """What a driver wants that begins now."""
        ...

    def tell_allocator_to_end(self) -> None:
        """SIGTERM, for the allocator that runs."""
        ...


class People:
    """The command and the drivers, and the truth about who was heard."""

    def __init__(self, world: SessionSurroundings, plan: SessionPlan) -> None:
        self.plan = plan
        self.command_lives = not plan.notebook
        self.ended = False
        """Nobody begins a driver any more."""
        self.command_met = False
        """Whether an allocator has heard the command: what it said of the driver is on the volume."""
        self.heard: dict[str, float] = {}
        """When a word of each session was taken in."""
        self.command_at = 0.0
        self._world = world
        self._random = Random(f"people {world.schedule.seed}")
        self._count = 0
        self._revisions: dict[str, int] = {}
        self.listens: int | None = None
        """The driver that has the pod's port for drivers, in a notebook's pod."""

    def begin(self) -> None:
        """The command, and the first driver."""
        if self.command_lives:
            self._world.event_queue.after(BEGINS, self._command)
        self._world.event_queue.after(BEGINS + 1.0, self.next_driver)

    # --- the command ----------------------------------------------------------------------------------

    def _command(self) -> None:
        """It says that it lives, every ten seconds; sooner again when nobody answers."""
        world = self._world
        if not self.command_lives:
            return
        process = world.process
        reached = process is not None and process.alive and not world.active_faults.holds(FaultKind.CUT)
        if process is not None and reached:
            process.now(partial(self._command_heard, process))
        world.event_queue.after(HEARTBEAT if reached else 1.0, self._command)

    def _command_heard(self, process: SessionProcess) -> None:
        self.command_met, self.command_at = True, self._world.event_queue.now
        if process.client is not None:
            process.client.command_speaks()

    # --- drivers --------------------------------------------------------------------------------------

    def next_driver(self, *, second: bool = False) -> None:
        """Somebody begins a driver. `second`: it is not tried again when it is refused."""
        self._count += 1
        self._try(self._count, second=second)

    def _try(self, number: int, *, second: bool) -> None:
        """Its first word."""
        world, process = self._world, self._world.process
        if world.over or self.ended:
            return
        if self.plan.notebook:
            if self.listens not in (None, number):  # Spark cannot have the pod's port: nobody would reach it
                self._later(second=second)
                return
            self.listens = number
        again = partial(self._try, number, second=second)
        reached = process is not None and process.alive and world.event_queue.now >= process.frozen_until
        if process is None or not reached or world.active_faults.holds(FaultKind.CUT):
            world.event_queue.after(self._random.uniform(0.5, 3.0), again)
            return
        process.now(lambda: self._first_word(process, number, second=second))

    def _first_word(self, process: SessionProcess, number: int, *, second: bool) -> None:
        world = self._world
        targets, application_id = world.first_targets(), world.application_id
        body = {
            "version": contract.VERSION,
            "session": f"session-{number}",
            "revision": 1,
            "phase": "running",
            "applicationId": application_id,
            "dynamic": world.schedule.settings.dynamic,
            "targets": {str(profile): count for profile, count in targets.items()},
            "profiles": {str(profile): NEEDS for profile in targets},
            "owner": f"driver {number}",
        }
        try:
            self._receive(process, body)
        except SessionAwaited:
            world.event_queue.after(self._random.uniform(2.0, 5.0), partial(self._try, number, second=second))
            return
        except SessionTaken as error:
            world.note(f"driver {number}", f"is refused: {error}")
            self._frees(number)
            self._later(second=second)
            return
        if world.driver is not None:
            world.driver.dies()
            self._frees(world.driver.number)
        world.note(f"driver {number}", f"starts as {application_id}, and wants {targets}")
        world.driver = Driver(world, number, application_id, targets)

    def _later(self, *, second: bool) -> None:
        """A driver could not begin: somebody tries it again, unless it is a second one."""
        if not second:
            self._world.event_queue.after(self._random.uniform(5.0, 20.0), self.next_driver)

    def hears(self, process: SessionProcess, body: Mapping[str, Any]) -> None:
        """A later word of a driver arrives."""
        try:
            self._receive(process, body)
        except SessionAwaited:
            return  # it is said again
        except SessionTaken:
            driver = self._world.driver
            if driver is not None and driver.session == body["session"]:
                raise  # it has the place in truth: a fault
            return

    def _receive(self, process: SessionProcess, body: Mapping[str, Any]) -> None:
        known = process.mailbox.target().session
        process.mailbox.receive(protocol.target_of(body))
        now, session = self._world.event_queue.now, process.mailbox.target().session
        if session != known:
            self._world.invariants.took_over(process, session)
        if session == body["session"] and body["revision"] >= self._revisions.get(session, 0):
            self.heard[session], self._revisions[session] = now, body["revision"]

    def silent(self, process: SessionProcess, session: str) -> float:
        """Seconds since a word of a session was taken in, or since the process began."""
        return self._world.event_queue.now - max(self.heard.get(session, 0.0), process.began)

    def driver_killed(self) -> None:
        """The driver's process is gone, without a word; somebody begins the next one soon."""
        world = self._world
        if world.driver is not None:
            world.driver.dies()
            self._frees(world.driver.number)
            world.driver = None
            world.event_queue.after(self._random.uniform(2.0, 6.0), self.next_driver)

    def _frees(self, number: int) -> None:
        if self.listens == number:
            self.listens = None

    def rules(self, resumed: str) -> SessionRules:
        """How the mailbox treats them."""
        if self.plan.notebook:
            return SessionRules(resumed, lambda: frozenset({str(self.listens)}))
        return SessionRules(resumed)

    # --- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        """All end, in the way of the plan; and nothing is left soon after."""
        world, driver = self._world, self._world.driver
        if self.plan.end is SessionEnd.TOLD and world.process is not None:
            world.tell_allocator_to_end()
            if driver is not None and driver.runs and not driver.failure:
                raise InvariantBroken("session-ends", "the driver was not told that its session is over")
        elif self.plan.end is SessionEnd.STOPPED and driver is not None:
            driver.stop()
            world.event_queue.run_until(world.event_queue.now + 2.0)
        self.command_lives, self.ended = False, True
        if world.driver is not None:
            world.driver.dies()
            world.driver = None
        world.event_queue.run_until(world.event_queue.now + MOST_AFTER_ALL)
