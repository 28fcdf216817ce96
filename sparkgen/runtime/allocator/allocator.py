"""The allocator put together: listeners, watcher, hands and loop around one World.

The sidecar (sidecar.py) gives it a cluster; `sparkgen run --local` gives it processes of this machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sparkgen.runtime.allocator import endpoints, shutdown
from sparkgen.runtime.allocator.action_pool import Hands
from sparkgen.runtime.allocator.driver.mailbox import Desk
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.session import Session
from sparkgen.runtime.allocator.loop import Loop, Ports, Tuned, nothing, remembered
from sparkgen.runtime.allocator.observe.view import View
from sparkgen.runtime.allocator.observe.watcher import Watcher
from sparkgen.runtime.allocator.report.event_recorder import Notices
from sparkgen.runtime.allocator.report.log import Journal
from sparkgen.runtime.allocator.report.reporter import Teller
from sparkgen.runtime.allocator.report.status import Facts
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.clock import Chances
from sparkgen.runtime.allocator.values.world import World


@dataclass(frozen=True, slots=True)
class Place:
    """Where to listen: an address of this machine, and a port (0: any that is free)."""

    address: str
    port: int


def unseen(_: Round) -> None:
    """Draw nothing."""


@dataclass(frozen=True, slots=True)
class Parts:
    """All that an allocator is made of. Its session has been begun: the driver's files are written."""

    world: World
    attempt: Attempt
    session: Session
    tuned: Tuned
    journal: Journal
    chances: Chances
    tag: str
    """A text that no earlier process used: the tags of its reports start with it."""
    scheduler: Place
    """For the scheduler jar; on loopback."""
    public: Place
    """For executors, probes and people."""
    speaks: Callable[[str], None] = nothing
    """Told the application id of each driver that speaks (loop.Ports)."""
    show: Callable[[Round], None] = unseen
    """Given every round of the loop, on the loop's thread."""


class Allocator:
    """One allocator. `start`, then `stop`, `sweep` where nothing may stay, and `close`; each once."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._clock = parts.chances.clock
        self.desk = Desk(parts.tag, self._clock)
        self._hands = Hands(parts.world, self.desk.ring)
        view = View(parts.attempt)
        self._watcher = Watcher(parts.world, view, parts.chances, self.desk.ring, parts.journal.say)
        self._notices = Notices(parts.world.tell, self._clock)
        self._teller = Teller(parts.journal, self._notices, parts.show)
        self._loop = threading.Thread(target=self._guarded, args=(self._run,), name="loop", daemon=True)
        self._listeners: list[endpoints.Listener] = []

    def start(self) -> tuple[int, int]:
        """Listen, watch and decide; the ports of the scheduler jar and of everybody else.

        OSError when a port is taken.
        """
        parts = self._parts
        public = endpoints.Public(self.desk, self.facts)
        served = (
            (
                parts.scheduler,
                endpoints.driver_handler(self.desk, parts.session.token),
                endpoints.DRIVER_LIMITS,
            ),
            (parts.public, endpoints.public_handler(public), None),
        )
        for place, handler, limits in served:
            self._listeners.append(endpoints.listen(place.address, place.port, handler, limits))
        for name, target in (("watch", self._watcher.run), ("notices", self._notices.run)):
            threading.Thread(target=self._guarded, args=(target,), name=name, daemon=True).start()
        self._loop.start()
        return self._listeners[0].port, self._listeners[1].port

    @property
    def died_of(self) -> BaseException | None:
        """What one of its threads died of: the process has to end, and to begin again."""
        return self.desk.crashed

    def wait(self, seconds: float) -> None:
        """Wait until it is stopped or has died, for a time at most."""
        self.desk.wait_closed(seconds)

    def stop(self, *, leave: bool) -> None:
        """Decide no more. `leave`: executors that wait are told to go."""
        self.desk.close(leave=leave)
        self._watcher.stop()
        self._loop.join(5.0)

    def sweep(self, seconds: float) -> shutdown.Swept:
        """Delete every executor of the attempt; after `stop`."""
        self._hands.finish(seconds / 2)
        now = shutdown.Time(self._clock, time.sleep)
        return shutdown.sweep(self._parts.world, self._hands, View(self._parts.attempt), now, seconds)

    def close(self) -> None:
        """Give back ports and connections."""
        for listener in self._listeners:
            listener.close()
        self._parts.world.close()
        self._hands.close()

    def facts(self) -> Facts:
        """What /status and /metrics tell."""
        journal, teller = self._parts.journal, self._teller
        return Facts(
            application=self._names(),
            now=self._clock(),
            last=self.desk.last,
            answers=dict(self._hands.answers),
            losses=dict(teller.losses),
            gaps=self._watcher.gaps,
            rounds=teller.rounds["all"],
            recent=tuple(journal.recent),
            troubles=tuple(journal.troubles),
        )

    def _names(self) -> Mapping[str, str]:
        attempt = self._parts.attempt
        return {"application": attempt.application, "run": attempt.run, "attempt": attempt.attempt}

    def _run(self) -> None:
        parts = self._parts
        ports = Ports(
            acts=self._hands,
            snapshot=lambda: self._watcher.view.snapshot(),
            desk=self.desk,
            tuned=parts.tuned,
            remembers=parts.session,
            tells=self._teller,
            chances=parts.chances,
            speaks=parts.speaks,
        )
        notes = parts.session.notes
        Loop(ports, remembered(notes.next_id, notes.session, notes.first_id)).run()

    def _guarded(self, target: Callable[[], None]) -> None:
        try:
            target()
        except Exception as error:  # noqa: BLE001 - a thread must not die in silence: all of it begins anew
            self.desk.crash(error)
