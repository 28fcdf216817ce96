"""Where the loop meets those who ask: the driver, executors that wait, and people. Safe for threads.

It holds values only: the driver's last state, the last round of the loop, and who was told to start.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from dataclasses import replace

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.driver import sessions
from sparkgen.runtime.allocator.driver.protocol import DriverReport
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.sessions import Occupant, SessionAwaited, SessionRules, SessionTaken
from sparkgen.runtime.allocator.values.actions import Delete
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.target import LONGEST_DELIVERY, DriverPhase, DriverTarget

AWAY_AFTER = 35.0
"""Seconds without a word of the driver, which speaks every 10 s, until it counts as away."""


ALIVE_AFTER = LONGEST_DELIVERY + 5.0
"""Seconds that a session which was taken for an earlier one goes on speaking until it counts again.

More than `LONGEST_DELIVERY`: two words of a driver that is over, both late, are no sign of life.
"""


class StartAnswer(enum.Enum):
    """The answer to an executor that asks whether it may start (contract.START_PATH), as an HTTP status."""

    GO = 200
    WAIT = 202
    LEAVE = 410


class DriverMailbox:
    """The driver's words come in here, and the loop's go out. `tag`: a text that no earlier process used.

    `rules`: how drivers are treated that come and go; None where the pod's driver is the only one.
    """

    def __init__(self, tag: str, clock: Callable[[], float], rules: SessionRules | None = None) -> None:
        self._tag = tag
        self._clock = clock
        self._rules = rules
        self._changed = threading.Condition()
        self._wakeup = threading.Event()
        self._target = DriverTarget()
        self._heard_at = 0.0 if rules is None else clock()
        self._since = 0.0
        """When its session was heard first."""
        self._sockets: frozenset[str] = frozenset()
        """Who listened at the driver's port then."""
        self._refused = ""
        """The session that was refused last."""
        self._failure: Hindrance | None = None
        """Why the driver has to stop, whatever a round says."""
        self._told_failure = False
        self._earlier_sessions: dict[str, float | None] = {}
        """Sessions that another one has replaced, and when each was heard for the first time since."""
        self._round: Round | None = None
        self._report = (f"{tag}-0", DriverReport())
        self._reports = 0
        self._started: frozenset[int] = frozenset()
        self._closed = False
        self._leave = False
        self._crash: BaseException | None = None

    # --- the loop -------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Let the loop look again: something is new."""
        self._wakeup.set()

    def wait(self, seconds: float) -> bool:
        """Wait until something is new, for a time at most; whether something is."""
        woken = self._wakeup.wait(max(0.0, seconds))
        self._wakeup.clear()
        return woken

    def wait_closed(self, seconds: float) -> None:
        """Wait until it is over, for a time at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed, max(0.0, seconds))

    def target(self) -> DriverTarget:
        """The driver's last state; `away` when that was long ago."""
        with self._changed:
            target = self._target
            if self._rules is not None:
                resumed = bool(self._rules.resumed)
                target = sessions.as_seen(target, self._heard_at, self._clock(), resumed=resumed)
            away = target.phase is DriverPhase.RUNNING and self._is_away()
            return replace(target, away=away, heard_at=self._heard_at)

    @property
    def phase(self) -> DriverPhase:
        """What the driver said last of itself."""
        with self._changed:
            return self._target.phase

    @property
    def heard_at(self) -> float | None:
        """When a driver was heard last; None when none was by this process."""
        with self._changed:
            return None if self._target.phase is DriverPhase.SILENT else self._heard_at

    def _is_away(self) -> bool:
        return self._clock() - self._heard_at > AWAY_AFTER

    def started(self) -> frozenset[int]:
        """Executors that were told to start by this process."""
        with self._changed:
            return self._started

    def commit(self, now: Round) -> bool:
        """Publish a round; False when it rests on what is not true any more, and has to be made again.

        That is so when it removes an executor that was told to start while it was made.
        """
        with self._changed:
            removed = {action.id for action in now.decision.actions if isinstance(action, Delete)}
            if removed & (self._started - now.snapshot.started):
                return False
            known = {*now.snapshot.executors, *now.decision.memory.requests, *now.target.registered}
            if now.snapshot.complete:
                self._started &= known
            self._round = now
            self._publish(now.report)
            return True

    def _publish(self, report: DriverReport) -> None:
        if self._failure is not None:
            report = replace(report, failure=self._failure)
        if report != self._report[1]:
            self._reports += 1
            self._report = (f"{self._tag}-{self._reports}", report)
        self._changed.notify_all()

    def fail(self, failure: Hindrance) -> None:
        """Tell the driver to stop, from now on."""
        with self._changed:
            self._failure = failure
            self._publish(self._report[1])

    def wait_told(self, seconds: float) -> bool:
        """Wait until a driver has been told of `fail`, for a time at most; whether one was. Not for none."""
        with self._changed:
            if self._target.phase is DriverPhase.RUNNING:
                self._changed.wait_for(lambda: self._told_failure, seconds)
            return self._told_failure

    def close(self, *, leave: bool) -> None:
        """Answer everybody who waits. `leave`: executors are not wanted any more, and leave.

        Otherwise another allocator comes after this one, and answers them.
        """
        with self._changed:
            self._closed = True
            self._leave = self._leave or leave
            self._changed.notify_all()
        self.notify()

    def crash(self, error: BaseException) -> None:
        """A thread has died of `error`: the process has to end, and begins again."""
        with self._changed:
            self._crash = self._crash or error
        self.close(leave=False)

    @property
    def closed(self) -> bool:
        """Whether it is over."""
        with self._changed:
            return self._closed

    @property
    def crashed(self) -> BaseException | None:
        """What a thread has died of."""
        with self._changed:
            return self._crash

    # --- the driver -----------------------------------------------------------------------------------

    def receive(self, target: DriverTarget) -> DriverTarget:
        """Take in a state of the driver; the state to acknowledge.

        One that is older than what is known is not taken in, and acknowledged all the same: its sender has
        said something newer since. SessionTaken and SessionAwaited where drivers come and go.
        """
        with self._changed:
            known = self._target
            if self._rules is not None and not self._may_speak(target, self._rules):
                return target
            if self._is_late(target) or (
                target.session == known.session and target.revision < known.revision
            ):
                return target
            if known.session and known.session != target.session:
                self._earlier_sessions[known.session] = None
            back = self._is_away()
            if known.session != target.session and self._rules is not None:
                # What listened for the one before is not this one's: it would count as dead with that one.
                self._since, self._sockets = self._clock(), self._rules.sockets() - self._sockets
            self._target, self._heard_at = target, self._clock()
        if back or target != known:
            self.notify()
        return target

    def _may_speak(self, target: DriverTarget, rules: SessionRules) -> bool:
        """Whether a state may be taken in, as far as others go; False for the end of one without a place."""
        known, now = self._target, self._clock()
        if known.session:
            occupant = Occupant(known, self._since, self._heard_at, self._sockets)
            free = known.session == target.session or not sessions.has_place(occupant, now, rules.sockets)
            words = "" if free else sessions.taken(occupant, now)
        else:
            free = rules.resumed in ("", target.session) or now - self._heard_at > sessions.SILENCE
            words = ""
        if free:
            return True
        if target.phase is DriverPhase.STOPPED:
            return False
        if not words:
            raise SessionAwaited
        if target.session != self._refused:
            self._refused = target.session
            rules.refused(target)
        raise SessionTaken(words)

    def _is_late(self, target: DriverTarget) -> bool:
        """Whether a state is of an earlier session: what a driver that is over had said may come late.

        One that goes on speaking is not over: what had replaced it was late.
        """
        if target.session not in self._earlier_sessions:
            return False
        heard_at, now = self._earlier_sessions[target.session], self._clock()
        if heard_at is not None and now - heard_at > ALIVE_AFTER:
            del self._earlier_sessions[target.session]
            return False
        self._earlier_sessions[target.session] = now if heard_at is None else heard_at
        return True

    def report(self, session: str, seen: str, seconds: float) -> tuple[str, DriverReport] | None:
        """The report and its tag as soon as it is not the one called `seen`; None after so many seconds.

        A session that is not the one that spoke last is told nothing.
        """

        def news() -> bool:
            mine = self._round is not None and self._round.target.session == session
            return self._closed or (mine and self._report[0] != seen)

        with self._changed:
            self._changed.wait_for(news, seconds)
            if self._closed or not news():
                return None
            if self._failure is not None:
                self._told_failure = True
                self._changed.notify_all()
            return self._report

    # --- executors ------------------------------------------------------------------------------------

    def start_answer(self, id_: int, seconds: float) -> StartAnswer:
        """Whether executor `id_` may start; after so many seconds WAIT, if nothing else is known by then.

        At once when it is over: nothing else will be known.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or self._start_answer(id_) is not StartAnswer.WAIT, seconds
            )
            word = self._start_answer(id_)
            if word is not StartAnswer.GO or id_ in self._started:
                return word
            self._started |= {id_}
        self.notify()  # it may register at any moment now
        return word

    def _start_answer(self, id_: int) -> StartAnswer:
        if self._closed:
            return StartAnswer.LEAVE if self._leave else StartAnswer.WAIT
        if self._round is None:
            return StartAnswer.WAIT
        decision, target = self._round.decision, self._round.target
        if id_ in decision.start:
            return StartAnswer.GO
        unwanted = id_ in decision.memory.removals or id_ < decision.memory.first_id
        return StartAnswer.LEAVE if unwanted or target.phase is DriverPhase.STOPPED else StartAnswer.WAIT

    # --- people ---------------------------------------------------------------------------------------

    @property
    def last(self) -> Round | None:
        """The last round; None before the first one."""
        with self._changed:
            return self._round

    @property
    def age(self) -> float | None:
        """Seconds since the last round was made; None before the first one."""
        last = self.last
        return None if last is None else self._clock() - last.now


def with_started(snapshot: Snapshot, started: frozenset[int]) -> Snapshot:
    """The snapshot, with those who were told to start."""
    return replace(snapshot, started=started)
