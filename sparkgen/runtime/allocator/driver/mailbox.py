"""Passes values between the loop and its clients: the driver, waiting executors and people. Thread-safe.

It holds only values: the driver's last state, the last round of the loop, and the executors that got
permission to start.
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
"""Seconds without a report of the driver, which reports every 10 s, until it counts as away."""


ALIVE_AFTER = LONGEST_DELIVERY + 5.0
"""Seconds that a session which was replaced must go on reporting until it counts as the current one again.

More than `LONGEST_DELIVERY`: two late reports of a driver that has ended do not show that it is alive.
"""


class StartAnswer(enum.Enum):
    """The answer to an executor that asks whether it may start (contract.START_PATH), as an HTTP status."""

    GO = 200
    WAIT = 202
    LEAVE = 410


class DriverMailbox:
    """Takes the driver's states, and gives out the loop's rounds. `tag`: a text that no earlier process used.

    `rules`: the rules for several drivers, one after another; None if there is only the pod's own driver.
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
        """When the current session first reported."""
        self._sockets: frozenset[str] = frozenset()
        """The sockets that listened at the driver's port then, without those of the session before."""
        self._refused = ""
        """The session that was refused last."""
        self._failure: Hindrance | None = None
        """Why the driver has to stop, whatever the rounds decide."""
        self._told_failure = False
        self._earlier_sessions: dict[str, float | None] = {}
        """Sessions that another one has replaced; for each, when it first reported again, None if it has
        not."""
        self._round: Round | None = None
        self._report = (f"{tag}-0", DriverReport())
        self._reports = 0
        self._started: frozenset[int] = frozenset()
        self._closed = False
        self._leave = False
        self._crash: BaseException | None = None

    # --- the loop -------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake up the loop, because something has changed."""
        self._wakeup.set()

    def wait(self, seconds: float) -> bool:
        """Wait for `notify`, at most `seconds`; returns whether it was called."""
        woken = self._wakeup.wait(max(0.0, seconds))
        self._wakeup.clear()
        return woken

    def wait_closed(self, seconds: float) -> None:
        """Wait for `close`, at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed, max(0.0, seconds))

    def target(self) -> DriverTarget:
        """The driver's last state; `away` if it is older than AWAY_AFTER."""
        with self._changed:
            target = self._target
            if self._rules is not None:
                resumed = bool(self._rules.resumed)
                target = sessions.as_seen(target, self._heard_at, self._clock(), resumed=resumed)
            away = target.phase is DriverPhase.RUNNING and self._is_away()
            return replace(target, away=away, heard_at=self._heard_at)

    @property
    def phase(self) -> DriverPhase:
        """The phase in the driver's last state."""
        with self._changed:
            return self._target.phase

    @property
    def heard_at(self) -> float | None:
        """When a driver last reported; None if none has reported to this process."""
        with self._changed:
            return None if self._target.phase is DriverPhase.SILENT else self._heard_at

    def _is_away(self) -> bool:
        return self._clock() - self._heard_at > AWAY_AFTER

    def started(self) -> frozenset[int]:
        """Executors that got permission to start from this process."""
        with self._changed:
            return self._started

    def commit(self, now: Round) -> bool:
        """Publish a round. Returns False if the round is outdated and has to be made again.

        It is outdated if it removes an executor that got permission to start while the round was made.
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
        """From now on, tell the driver to stop."""
        with self._changed:
            self._failure = failure
            self._publish(self._report[1])

    def wait_told(self, seconds: float) -> bool:
        """Wait until the driver has read what `fail` set, at most `seconds`; not if no driver runs.

        Returns whether it has read it.
        """
        with self._changed:
            if self._target.phase is DriverPhase.RUNNING:
                self._changed.wait_for(lambda: self._told_failure, seconds)
            return self._told_failure

    def close(self, *, leave: bool) -> None:
        """Answer all waiting requests. `leave`: tell executors to exit, because they are not needed any more.

        Otherwise, another allocator follows this one, and answers the executors.
        """
        with self._changed:
            self._closed = True
            self._leave = self._leave or leave
            self._changed.notify_all()
        self.notify()

    def crash(self, error: BaseException) -> None:
        """Record that a thread has died of `error`: the process has to end, and is then restarted."""
        with self._changed:
            self._crash = self._crash or error
        self.close(leave=False)

    @property
    def closed(self) -> bool:
        """Whether `close` or `crash` was called."""
        with self._changed:
            return self._closed

    @property
    def crashed(self) -> BaseException | None:
        """The error of a thread that has died; None if there is none."""
        with self._changed:
            return self._crash

    # --- the driver -----------------------------------------------------------------------------------

    def receive(self, target: DriverTarget) -> DriverTarget:
        """Take in a state of the driver. Returns the state to acknowledge.

        A state that is older than the known one is ignored, but acknowledged all the same: its sender has
        already sent a newer one. Raises SessionTaken or SessionAwaited if there are `rules` for drivers and
        they refuse it.
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
                # A socket of the driver before says nothing about this driver, which would count as dead with
                # that socket.
                self._since, self._sockets = self._clock(), self._rules.sockets() - self._sockets
            self._target, self._heard_at = target, self._clock()
        if back or target != known:
            self.notify()
        return target

    def _may_speak(self, target: DriverTarget, rules: SessionRules) -> bool:
        """Whether a driver may report, given the others. False for a driver that ends and has no place.

        Raises SessionTaken or SessionAwaited for other states of such a driver.
        """
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
        """Whether a state is a late one of a replaced session: a driver's states may arrive after its end.

        If that session goes on reporting, it has not ended: then the session that replaced it was the late
        one.
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
        """The report and its tag, as soon as the tag is not `seen`; None after `seconds`.

        A session that is not the current one gets no report.
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
        """Whether executor `id_` may start; WAIT after `seconds` without a decision.

        Returns at once when the mailbox is closed, because no decision will follow.
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
    """Returns the snapshot with the executors that got permission to start."""
    return replace(snapshot, started=started)
