"""Keeps the view: one list, then a watch; again when the watch ends. No list without a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkgen.runtime.allocator.observe.view import View
from sparkgen.runtime.allocator.values.clock import Chances
from sparkgen.runtime.allocator.values.world import Event, Listing, WatchEnded, World

LONGEST_PAUSE = 30.0
"""Seconds between two lists that fail, at most."""
STEADY = 30.0
"""Seconds after which a watch counts as a good one: its end begins the pauses anew."""


class Watcher:
    """Follows a World. `view` is the newest view; `ring` is called when it says something new.

    `run` is a thread's; it is made of steps that never wait, which a simulator calls by itself: `begin`,
    `listed`, `happened` for each event, and `ended`.
    """

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
        self._began = 0.0
        self._rounds = 0

    def run(self) -> None:
        """Follow until `stop`."""
        while not self._stopped.is_set():
            end = self._follow()
            if not self._stopped.is_set():
                self._stopped.wait(self.ended(end))

    def stop(self) -> None:
        """Follow no more. The World has to be closed for the watch to end."""
        self._stopped.set()

    def _follow(self) -> WatchEnded:
        """List, and watch until the end, which is told."""
        asked_at = self.begin()
        try:
            self.listed(self._world.list(), asked_at)
            for event in self._world.watch(self.view.version):
                self.happened(event)
        except WatchEnded as end:
            return end
        except Exception as error:  # noqa: BLE001 - what was sent must not end the process: it is asked again
            return WatchEnded(f"internal error ({type(error).__name__}: {error})", LONGEST_PAUSE)
        return WatchEnded("the watch ended")

    def begin(self) -> float:
        """A list is asked for now; when that is."""
        self._began = self._chances.clock()
        return self._began

    def listed(self, listing: Listing, asked_at: float) -> None:
        """The list that was asked for at `asked_at` has come."""
        self.view = self.view.listed(listing, asked_at, self._chances.clock())
        self._ring()

    def happened(self, event: Event) -> None:
        """The watch has shown an event."""
        self.view = self.view.happened(event, self._chances.clock())
        if event.kind != "BOOKMARK":
            self._ring()

    def ended(self, end: WatchEnded) -> float:
        """The list failed, or the watch is over, and there may be a gap; seconds until the next list."""
        self.gaps += 1
        self._tell(f"looking again at all executors: {end.reason}")
        # A view is complete from its list until the watch ends: where it is not, the list was not given.
        self.view = self.view.missed() if self.view.complete else self.view.refused(end)
        self._ring()
        steady = self._chances.clock() - self._began > STEADY
        self._rounds = 0 if steady else self._rounds + 1
        return max(end.pause, pause_after(self._rounds, self._chances.random()))


def pause_after(rounds: int, chance: float) -> float:
    """Seconds before a new list, after `rounds` in a row that did not last: 1, 2, 4 ... 30, or less.

    `chance` (0 to 1) spreads them, so that many allocators do not ask a server at once that has come back.
    """
    longest = min(LONGEST_PAUSE, 1.0 * (1 << min(rounds, 10)))
    return longest * chance if rounds == 0 else longest * (0.5 + chance / 2)
