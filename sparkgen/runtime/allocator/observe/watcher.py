"""Keeps the view: one list, then a watch; again when the watch ends. No list without a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.clock import ClockAndRandom

LONGEST_LIST_PAUSE = 30.0
"""Seconds between two lists that fail, at most."""
STEADY = 30.0
"""Seconds after which a watch counts as a good one: its end begins the pauses again."""


class Watcher:
    """Follows an ExecutorBackend. `view` is the newest view; `notify` is called when it says something new.

    `tell_gap` is called when all executors have to be looked at again, with the reason.

    `run` is a thread's; it is made of steps that never wait, which a simulator calls by itself: `begin`,
    `listed`, `happened` for each event, and `ended`.
    """

    def __init__(
        self,
        backend: ExecutorBackend,
        view: PodView,
        clock_and_random: ClockAndRandom,
        notify: Callable[[], None],
        tell_gap: Callable[[Hindrance], None],
    ) -> None:
        self.view = view
        self.gaps = 0
        """How often a watch has ended, or a list failed."""
        self._backend = backend
        self._clock_and_random = clock_and_random
        self._notify = notify
        self._tell_gap = tell_gap
        self._stopped = threading.Event()
        self._began = 0.0
        self._rounds = 0

    def run(self) -> None:
        """Follow until `stop`."""
        while not self._stopped.is_set():
            end = self._follow()
            if not self._stopped.is_set():
                self._stopped.wait(self.on_end(end))

    def stop(self) -> None:
        """Follow no more. The backend has to be closed for the watch to end."""
        self._stopped.set()

    def _follow(self) -> WatchEnded:
        """List, and watch until the end, which is told."""
        asked_at = self.begin()
        try:
            self.on_list(self._backend.list(), asked_at)
            for event in self._backend.watch(self.view.version):
                self.on_event(event)
        except WatchEnded as end:
            return end
        except Exception as error:  # noqa: BLE001 - what was sent must not end the process: it is asked again
            text = f"internal error ({type(error).__name__}: {error})"
            return WatchEnded(Hindrance(Code.INTERNAL_ERROR, text), LONGEST_LIST_PAUSE)
        return WatchEnded(Hindrance(Code.GONE, "the watch ended"))

    def begin(self) -> float:
        """A list is asked for now; when that is."""
        self._began = self._clock_and_random.clock()
        return self._began

    def on_list(self, listing: PodList, asked_at: float) -> None:
        """The list that was asked for at `asked_at` has come."""
        self.view = self.view.with_list(listing, asked_at, self._clock_and_random.clock())
        self._notify()

    def on_event(self, event: WatchEvent) -> None:
        """The watch has shown an event."""
        self.view = self.view.with_event(event, self._clock_and_random.clock())
        if event.kind != "BOOKMARK":
            self._notify()

    def on_end(self, end: WatchEnded) -> float:
        """The list failed, or the watch is over, and there may be a gap; seconds until the next list."""
        self.gaps += 1
        self._tell_gap(end.reason)
        # A view is complete from its list until the watch ends: where it is not, the list was not given.
        self.view = self.view.with_gap() if self.view.complete else self.view.with_list_failure(end)
        self._notify()
        steady = self._clock_and_random.clock() - self._began > STEADY
        self._rounds = 0 if steady else self._rounds + 1
        return max(end.pause, pause_after(self._rounds, self._clock_and_random.random()))


def pause_after(rounds: int, chance: float) -> float:
    """Seconds before a new list, after `rounds` in a row that did not last: 1, 2, 4 ... 30, or less.

    `chance` (0 to 1) spreads them, so that many allocators do not ask a server at once that has come back.
    """
    longest = min(LONGEST_LIST_PAUSE, 1.0 * (1 << min(rounds, 10)))
    return longest * chance if rounds == 0 else longest * (0.5 + chance / 2)
