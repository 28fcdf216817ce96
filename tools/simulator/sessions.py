"""The surroundings of an allocator whose drivers come and go: a command, and one driver after another."""

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
"""Seconds without a message after which a driver or command counts as gone."""
BEGINS = 2.0
"""Seconds until the command has forwarded its port, and the first driver's JVM has started a second later."""
MOST_AFTER_ALL = 150.0
"""Seconds from the end of driver and command until all is over: silence, a check, a restart, the end."""


class SessionProcess(AllocatorBeside, Protocol):
    """The part of an allocator that command and drivers use."""

    began: float
    frozen_until: float
    client: ClientSession | None

    def now(self, what: Callable[[], None]) -> None:
        """Call `what` in the process."""
        ...


class SessionSurroundings(DriverSurroundings, Protocol):
    """The part of the world that `People` uses."""

    driver: Driver | None
    over: bool

    @property
    def process(self) -> SessionProcess | None:
        """The running allocator; None between two."""
        ...

    @property
    def application_id(self) -> str:
        """The application id of the next driver."""
        ...

    def first_targets(self) -> dict[int, int]:
        """The target of a driver that starts now: executors by profile."""
        ...

    def tell_allocator_to_end(self) -> None:
        """Send SIGTERM to the running allocator."""
        ...


class People:
    """The command and the drivers, and the true times of their messages."""

    def __init__(self, world: SessionSurroundings, plan: SessionPlan) -> None:
        self.plan = plan
        self.command_lives = not plan.notebook
        self.ended = False
        """Whether no more drivers are started."""
        self.command_met = False
        """Whether an allocator has received a message of the command; the next one resumes the session."""
        self.heard: dict[str, float] = {}
        """The time of the latest message that was accepted from each session."""
        self.command_at = 0.0
        self._world = world
        self._random = Random(f"people {world.schedule.seed}")
        self._count = 0
        self._revisions: dict[str, int] = {}
        self.listens: int | None = None
        """The number of the driver that listens on the pod's port for drivers, in a notebook's pod."""

    def begin(self) -> None:
        """Schedule the start of the command and of the first driver."""
        if self.command_lives:
            self._world.event_queue.after(BEGINS, self._command)
        self._world.event_queue.after(BEGINS + 1.0, self.next_driver)

    # --- the command ----------------------------------------------------------------------------------

    def _command(self) -> None:
        """Send the command's heartbeat every ten seconds, or every second to an unreachable allocator."""
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
        """Start a driver. `second`: do not try again if it is refused."""
        self._count += 1
        self._try(self._count, second=second)

    def _try(self, number: int, *, second: bool) -> None:
        """Send the driver's first message; later again if the allocator is unreachable."""
        world, process = self._world, self._world.process
        if world.over or self.ended:
            return
        if self.plan.notebook:
            if self.listens not in (None, number):  # the pod's port is in use: no executor would reach Spark
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
        """Start another driver later, because one could not start; not if that was a second driver."""
        if not second:
            self._world.event_queue.after(self._random.uniform(5.0, 20.0), self.next_driver)

    def hears(self, process: SessionProcess, body: Mapping[str, Any]) -> None:
        """Deliver a later message of a driver."""
        try:
            self._receive(process, body)
        except SessionAwaited:
            return  # the driver sends it again
        except SessionTaken:
            driver = self._world.driver
            if driver is not None and driver.session == body["session"]:
                raise  # this driver does have the session: a bug
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
        """Seconds since a message of a session was accepted, or since the process started."""
        return self._world.event_queue.now - max(self.heard.get(session, 0.0), process.began)

    def driver_killed(self) -> None:
        """Kill the driver's process, and start the next one soon."""
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
        """The mailbox's rules for these drivers."""
        if self.plan.notebook:
            return SessionRules(resumed, lambda: frozenset({str(self.listens)}))
        return SessionRules(resumed)

    # --- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        """End driver and command as planned, and wait until nothing can be left. Raises InvariantBroken."""
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
