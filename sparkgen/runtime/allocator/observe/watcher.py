"""Keeps the view current: one list, then a watch; again when the watch ends. Never lists without a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, PodList, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.clock import ClockAndRandom

LONGEST_LIST_PAUSE = 30.0
"""The most seconds between two failed lists."""
STEADY = 30.0
"""Seconds that a watch must last so that the pauses after it are short again."""


class Watcher:
    """Follows an ExecutorBackend. `view` is the newest view; `notify` is called when it has changed.

    `tell_gap` is called, with the reason, when all executors have to be listed again.

    `run` is for a thread. It consists of steps that never wait, which the simulator calls itself: `begin`,
    `on_list`, `on_event` for each event, and `on_end`.
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
        """Follow the backend until `stop`."""
        while not self._stopped.is_set():
            end = self._follow()
            if not self._stopped.is_set():
                self._stopped.wait(self.on_end(end))

    def stop(self) -> None:
        """Stop following. The backend has to be closed for the watch to end."""
        self._stopped.set()

    def _follow(self) -> WatchEnded:
        """List, then watch until the end; returns why it ended."""
        asked_at = self.begin()
        try:
            self.on_list(self._backend.list(), asked_at)
            for event in self._backend.watch(self.view.version):
                self.on_event(event)
        except WatchEnded as end:
            return end
        except Exception as error:  # noqa: BLE001 - no answer may end the process: the list is repeated
            text = f"internal error ({type(error).__name__}: {error})"
            return WatchEnded(Hindrance(Code.INTERNAL_ERROR, text), LONGEST_LIST_PAUSE)
        return WatchEnded(Hindrance(Code.GONE, "the watch ended"))

    def begin(self) -> float:
        """Note that a list is requested now; returns the time."""
        self._began = self._clock_and_random.clock()
        return self._began

    def on_list(self, listing: PodList, asked_at: float) -> None:
        """Take in the list that was requested at `asked_at`."""
        self.view = self.view.with_list(listing, asked_at, self._clock_and_random.clock())
        self._notify()

    def on_event(self, event: WatchEvent) -> None:
        """Take in an event of the watch."""
        self.view = self.view.with_event(event, self._clock_and_random.clock())
        if event.kind != "BOOKMARK":
            self._notify()

    def on_end(self, end: WatchEnded) -> float:
        """Note that the list failed or the watch ended. Returns the seconds until the next list."""
        self.gaps += 1
        self._tell_gap(end.reason)
        # A view is complete from its list until the watch ends: if it is not complete now, the list failed.
        self.view = self.view.with_gap() if self.view.complete else self.view.with_list_failure(end)
        self._notify()
        steady = self._clock_and_random.clock() - self._began > STEADY
        self._rounds = 0 if steady else self._rounds + 1
        return max(end.pause, pause_after(self._rounds, self._clock_and_random.random()))


def pause_after(rounds: int, chance: float) -> float:
    """Seconds before a new list, after `rounds` short ones in a row: 1, 2, 4 ... 30, or less.

    `chance` (0 to 1) varies them, so that many allocators do not send requests at once to a server that is
    back.
    """
    longest = min(LONGEST_LIST_PAUSE, 1.0 * (1 << min(rounds, 10)))
    return longest * chance if rounds == 0 else longest * (0.5 + chance / 2)
