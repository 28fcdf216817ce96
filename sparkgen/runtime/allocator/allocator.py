"""The whole allocator: listeners, watcher, action pool and loop around one ExecutorBackend.

The sidecar (sidecar.py) gives it a cluster; `sparkgen run --local` gives it processes of this machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sparkgen.runtime.allocator import endpoints, shutdown
from sparkgen.runtime.allocator.action_pool import ActionPool
from sparkgen.runtime.allocator.driver.client_session import ClientEndpoint
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.session import Session
from sparkgen.runtime.allocator.driver.sessions import SessionRules
from sparkgen.runtime.allocator.loop import Loop, LoopPorts, SettingsSource, ignore_text, remembered
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.observe.watcher import Watcher
from sparkgen.runtime.allocator.report.event_recorder import EventRecorder
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.reporter import Reporter
from sparkgen.runtime.allocator.report.status import StatusFacts
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import ExecutorBackend
from sparkgen.runtime.allocator.values.clock import ClockAndRandom


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """An address of this machine, and a port to listen on (0: any that is free)."""

    address: str
    port: int


def ignore_round(_: Round) -> None:
    """Do nothing with a round."""


@dataclass(frozen=True, slots=True)
class Parts:
    """All that an allocator is made of. Its session has begun: the driver's files are written."""

    backend: ExecutorBackend
    attempt: Attempt
    session: Session
    settings_source: SettingsSource
    log: Log
    clock_and_random: ClockAndRandom
    tag: str
    """A text that no earlier process used: the tags of its reports start with it."""
    scheduler: ListenAddress
    """Where to listen for the scheduler jar; on loopback."""
    public: ListenAddress
    """Where to listen for executors, probes and people."""
    set_application_id: Callable[[str], None] = ignore_text
    """Called with the application id of each driver that reports (loop.LoopPorts)."""
    show: Callable[[Round], None] = ignore_round
    """Called with every round of the loop, on the loop's thread."""
    why_not_serving: Callable[[], str] | None = None
    """Checks the driver's Connect server (connect_server.why_not_serving); None if the driver has none."""
    rules: SessionRules | None = None
    """The rules for drivers that come and go; None if the pod has its own driver."""
    client: ClientEndpoint | None = None
    """Answers the command of a session in client mode; None in other modes."""


class Allocator:
    """One allocator. Call `start`, `stop`, `sweep` if no executor may stay, and `close`; each once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._clock = parts.clock_and_random.clock
        self.mailbox = DriverMailbox(parts.tag, self._clock, parts.rules)
        self._pool = ActionPool(parts.backend, self.mailbox.notify)
        view = PodView(parts.attempt)
        self._event_recorder = EventRecorder(parts.backend.record_event, self._clock)
        self._reporter = Reporter(parts.log, self._event_recorder, parts.show)
        self._watcher = Watcher(
            parts.backend, view, parts.clock_and_random, self.mailbox.notify, self._reporter.gap
        )
        self._loop = threading.Thread(target=self._guarded, args=(self._run,), name="loop", daemon=True)
        self._listeners: list[endpoints.Listener] = []

    def start(self) -> tuple[int, int]:
        """Listen, watch and decide. Returns the ports for the scheduler jar and for everybody else.

        Raises OSError if a port is in use.
        """
        parts = self._parts
        ask = parts.why_not_serving
        connect = None if ask is None else endpoints.ConnectEndpoint(ask, self._clock)
        public = endpoints.PublicEndpoint(self.mailbox, self.facts, connect)
        served = (
            (
                parts.scheduler,
                endpoints.driver_handler(self.mailbox, parts.session.token_hash, parts.client),
                endpoints.DRIVER_LIMITS,
            ),
            (parts.public, endpoints.public_handler(public), endpoints.PUBLIC_LIMITS),
        )
        for place, handler, limits in served:
            self._listeners.append(endpoints.listen(place.address, place.port, handler, limits))
        for name, target in (("watch", self._watcher.run), ("notices", self._event_recorder.run)):
            threading.Thread(target=self._guarded, args=(target,), name=name, daemon=True).start()
        self._loop.start()
        return self._listeners[0].port, self._listeners[1].port

    @property
    def died_of(self) -> BaseException | None:
        """The error that a thread died of, if any: the process then has to end, and is restarted."""
        return self.mailbox.crashed

    def wait(self, seconds: float) -> None:
        """Wait until it is stopped or a thread has died, at most `seconds`."""
        self.mailbox.wait_closed(seconds)

    def stop(self, *, leave: bool) -> None:
        """Stop deciding. `leave`: tell waiting executors to exit."""
        self.mailbox.close(leave=leave)
        self._watcher.stop()
        self._loop.join(5.0)

    def sweep(self, seconds: float) -> shutdown.SweepResult:
        """Delete every executor of the attempt; call it after `stop`."""
        self._pool.finish(seconds / 2)
        now = shutdown.ClockAndSleep(self._clock, time.sleep)
        return shutdown.sweep(self._parts.backend, self._pool, PodView(self._parts.attempt), now, seconds)

    def close(self) -> None:
        """Release ports and connections."""
        for listener in self._listeners:
            listener.close()
        self._parts.backend.close()
        self._pool.close()

    def facts(self) -> StatusFacts:
        """The facts for /status and /metrics."""
        log, reporter = self._parts.log, self._reporter
        return StatusFacts(
            application=self._names(),
            now=self._clock(),
            last=self.mailbox.last,
            answers=dict(self._pool.answers),
            losses=dict(reporter.losses),
            gaps=self._watcher.gaps,
            rounds=reporter.rounds["all"],
            recent=tuple(log.recent),
            troubles=tuple(log.troubles),
        )

    def _names(self) -> Mapping[str, str]:
        attempt = self._parts.attempt
        return {"application": attempt.application, "run": attempt.run, "attempt": attempt.attempt}

    def _run(self) -> None:
        parts = self._parts
        ports = LoopPorts(
            actions=self._pool,
            snapshot=lambda: self._watcher.view.snapshot(),
            mailbox=self.mailbox,
            settings_source=parts.settings_source,
            session=parts.session,
            reporter=self._reporter,
            clock_and_random=parts.clock_and_random,
            set_application_id=parts.set_application_id,
        )
        notes = parts.session.notes
        Loop(ports, remembered(notes.next_id, notes.session, notes.first_id)).run()

    def _guarded(self, target: Callable[[], None]) -> None:
        try:
            target()
        except Exception as error:  # noqa: BLE001 - a dead thread must be noticed: the whole process restarts
            self.mailbox.crash(error)
