"""The allocator of a local run: the loop of a cluster's, on threads of this process, around another world."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sparkgen import contract
from sparkgen.allocator import session as sessions
from sparkgen.allocator import status as statuses
from sparkgen.allocator.act import Hands
from sparkgen.allocator.desk import Desk, Round
from sparkgen.allocator.loop import Loop, Ports, remembered
from sparkgen.allocator.observe import View
from sparkgen.allocator.ports import Notice, World
from sparkgen.allocator.server import Listener, Public, driver_handler, listen, public_handler
from sparkgen.allocator.session import Place, Session
from sparkgen.allocator.template import grace_of
from sparkgen.allocator.tuning import BadTuning, Change, Followed
from sparkgen.allocator.types import Outcome
from sparkgen.allocator.watcher import Chances, Watcher
from sparkgen.local.errors import CannotRun
from sparkgen.local.plan import Plan
from sparkgen.local.ports import LOOPBACK

MAX_WAITING = 64
"""Executors whose question for the start word is held; more are told to ask again."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the loop tells goes to whoever shows the run."""

    show: Callable[[Round | None, Round, list[Outcome]], None]
    say: Callable[[str], None]

    def round(self, before: Round | None, now: Round, outcomes: list[Outcome]) -> None:
        """A round was made."""
        self.show(before, now, outcomes)

    def tuned(self, change: Change) -> None:
        """The settings changed, or could not be read."""
        self.say(f"tuning.json: {change.bad or 'read again'}")

    def notice(self, notice: Notice) -> None:
        """Something that a user must know: it is in the lines about the round."""


def begin_session(plan: Plan, followed: Followed) -> Session:
    """The session's files, with a secret of their own. CannotRun when the document forbids it."""
    place = Place(plan.folders.session, plan.attempt.application_id, LOOPBACK)
    try:
        return sessions.begin(place, plan.spark_defaults, followed.settings, lambda: secrets.token_hex(32))
    except sessions.BadSession as error:
        raise CannotRun(str(error)) from None


def follow_tuning(path: Path, template: dict[str, object]) -> Followed:
    """The settings of the document. CannotRun when they cannot be used."""
    try:
        return Followed(path, grace_of(template))
    except BadTuning as error:
        raise CannotRun(f"the document's bounds and limits cannot be used: {error}") from None


class Allocator:
    """The allocator's threads. OSError when its ports are taken."""

    def __init__(
        self, plan: Plan, session: Session, followed: Followed, world: World, shown: Shown, chances: Chances
    ) -> None:
        self._world = world
        self.desk = Desk(secrets.token_hex(4), chances.clock)
        self._hands = Hands(world, self.desk.ring)
        attempt = replace(plan.attempt, application_id=session.application_id)
        self._watcher = Watcher(world, View(attempt), chances, self.desk.ring, shown.say)
        ports = Ports(
            acts=self._hands,
            snapshot=lambda: self._watcher.view.snapshot(),
            desk=self.desk,
            tuned=followed,
            remembers=session,
            tells=shown,
            chances=chances,
        )
        notes = session.notes
        self._loop = Loop(ports, remembered(notes.next_id, notes.session, notes.first_id))
        self._chances = chances
        self._listeners = self._listen(plan, session)

    def start(self) -> None:
        """Begin to work."""
        for name, work in (("loop", self._loop.run), ("watch", self._watcher.run)):
            threading.Thread(target=self._guarded, args=(work,), name=name, daemon=True).start()

    def stop(self) -> None:
        """Decide and answer no more; executors that wait for their word leave."""
        self._watcher.stop()
        self.desk.close(leave=True)
        self._world.close()
        self._hands.close()
        for listener in self._listeners:
            listener.close()

    def _listen(self, plan: Plan, session: Session) -> list[Listener]:
        public = Public(self.desk, self._facts, threading.BoundedSemaphore(MAX_WAITING))
        return [
            listen(LOOPBACK, plan.ports.scheduler, driver_handler(self.desk, session.token)),
            listen(LOOPBACK, plan.ports.allocator, public_handler(public)),
        ]

    def _facts(self) -> statuses.Facts:
        return statuses.Facts(
            application={},
            now=self._chances.clock(),
            last=self.desk.last,
            answers=dict(self._hands.answers),
            losses={},
            gaps=self._watcher.gaps,
            rounds=0,
        )

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the run has to end, and the main thread says why
            self.desk.crash(error)
            sys.stderr.flush()


def start_url(plan: Plan, id_: int) -> str:
    """Where an executor asks whether it may start."""
    return f"http://{LOOPBACK}:{plan.ports.allocator}{contract.START_PATH}/{id_}/start"


def driver_url(plan: Plan) -> str:
    """Where executors reach Spark's scheduler in the driver."""
    return f"spark://CoarseGrainedScheduler@{LOOPBACK}:{plan.ports.driver}"
