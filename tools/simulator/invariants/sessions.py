"""The invariants of sessions, in which drivers come and go. In other schedules they hold trivially."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.invariants.invariant import Invariant
from simulator.sessions import SILENCE
from sparkgen.runtime.allocator.decide import executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.actions import Action, Create

if TYPE_CHECKING:
    from simulator.process import AllocatorProcess
    from simulator.world import World


ROUNDED = 0.001
"""Seconds by which two clocks may differ at the same time."""


class NoTakeover(Invariant):
    """A second driver never takes over from a driver that lives and has reported within the last minute.

    An exception: an allocator was killed between a driver's first message and storing it.
    """

    name = "no-takeover"

    def took_over(self, process: AllocatorProcess, session: str) -> None:
        driver, people = self.world.driver, self.world.people
        if driver is None or people is None or driver.state.stopped or driver.session == session:
            return
        if process.resumed != driver.session and people.heard.get(driver.session, 0.0) < process.began:
            return
        silent = people.silent(process, driver.session)
        if silent < SILENCE - ROUNDED:
            raise self.broken(
                f"{session} takes over from {driver.session}, which reported {silent:.1f} s ago"
            )


class OneSession(Invariant):
    """Executors of two drivers are never wanted at once: none may start that was created for another one."""

    name = "one-session"

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._session: dict[int, str] = {}

    def sent(self, process: AllocatorProcess, action: Action) -> None:
        last = process.mailbox.last
        if isinstance(action, Create) and not action.again and last is not None:
            self._session[action.id] = last.target.session

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        if self.world.people is None:
            return
        for id_ in now.decision.start:
            session = self._session.get(id_, now.target.session)
            if session != now.target.session:
                raise self.broken(f"executor {id_} of {session} may start while {now.target.session} runs")


class NobodyHoldsNothing(Invariant):
    """No executor is wanted without a driver: before the first one, and after a minute of silence."""

    name = "nobody-holds-nothing"

    def after_round(self, process: AllocatorProcess, before: Round | None, now: Round) -> None:
        people, session = self.world.people, now.target.session
        if people is None or (session and people.silent(process, session) <= SILENCE + ROUNDED):
            return
        if (
            now.snapshot.complete
            and session
            and any(executor_states.wanted(now.target, now.settings).values())
        ):
            raise self.broken(f"executors are wanted for {session}, which is silent")
        if any(isinstance(action, Create) for action in now.decision.actions) or now.decision.start:
            raise self.broken("executors are created, or may start, although there is no driver")


class SessionEnds(Invariant):
    """A session ends once driver and command are gone, not before: a driver that reports keeps its executors.

    A driver that still runs is told that the session ends, and nothing is left a while later.
    """

    name = "session-ends"

    def session_over(self, process: AllocatorProcess, why: str) -> None:
        people, now = self.world.people, self.world.event_queue.now
        if people is None:
            return
        last = max([people.command_at, process.began, *people.heard.values()])
        if now - last < SILENCE - ROUNDED:
            raise self.broken(
                f"the session ends ({why}), although a driver or the command reported {now - last:.1f} s ago"
            )

    def all_gone(self) -> None:
        if not self.world.over:
            raise self.broken("neither a driver nor the command is left, but the session continues")
