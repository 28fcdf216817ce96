"""Keeps the view: one list, then a watch; again when the watch ends. No list without a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.allocator.observe import View
from sparkgen.allocator.ports import WatchEnded, World

LONGEST_PAUSE = 30.0
"""Seconds between two lists that fail, at most."""
STEADY = 30.0
"""Seconds after which a watch counts as a good one: its end begins the pauses anew."""


@dataclass(frozen=True, slots=True)
class Chances:
    """Time and chance: `clock` in seconds (monotonic), `random` from 0 to 1."""

    clock: Callable[[], float]
    random: Callable[[], float]


class Watcher:
    """Follows a World. `view` is the newest view; `ring` is called when it says something new."""

    def __init__(
        self,
        world: World,
        view: View,
        chances: Chances,
        ring: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        self.view = view
        self.gaps = 0
        """How often a watch has ended, or a list failed."""
        self._world = world
        self._chances = chances
        self._ring = ring
        self._tell = tell
        self._stopped = threading.Event()

    def run(self) -> None:
        """Follow until `stop`."""
        rounds = 0
        while not self._stopped.is_set():
            began = self._chances.clock()
            pause = self._follow()
            if self._stopped.is_set():
                return
            steady = self._chances.clock() - began > STEADY
            rounds = 0 if steady else rounds + 1
            self._stopped.wait(max(pause, pause_after(rounds, self._chances.random())))

    def stop(self) -> None:
        """Follow no more. The World has to be closed for the watch to end."""
        self._stopped.set()

    def _follow(self) -> float:
        """List, and watch until the end; the seconds to pause at least."""
        clock = self._chances.clock
        try:
            asked_at = clock()
            listing = self._world.list()
            self.view = self.view.listed(listing, asked_at, clock())
            self._ring()
            for event in self._world.watch(self.view.version):
                self.view = self.view.happened(event, clock())
                if event.kind != "BOOKMARK":
                    self._ring()
            reason, pause = "the watch ended", 0.0
        except WatchEnded as end:
            reason, pause = end.reason, end.pause
        if not self._stopped.is_set():
            self.gaps += 1
            self._tell(f"looking again at all executors: {reason}")
        self.view = self.view.missed()
        self._ring()
        return pause


def pause_after(rounds: int, chance: float) -> float:
    """Seconds before a new list, after `rounds` in a row that did not last: 1, 2, 4 ... 30, or less.

    `chance` (0 to 1) spreads them, so that many allocators do not ask a server at once that has come back.
    """
    longest = min(LONGEST_PAUSE, 1.0 * (1 << min(rounds, 10)))
    return longest * chance if rounds == 0 else longest * (0.5 + chance / 2)
