"""Virtual time: what happens when, in one queue. Nothing waits, and nothing runs beside anything else."""

from __future__ import annotations

import heapq
from collections.abc import Callable


class EventQueue:
    """What is still to happen, by time; what is due at the same time comes in the order of its entry.

    `now` in seconds since the driver's pod was made.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def at(self, time: float, what: Callable[[], None]) -> None:
        """Let this happen at a time; at once, when that has passed."""
        self._count += 1
        heapq.heappush(self._entries, (max(time, self.now), self._count, what))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Let this happen after so many seconds."""
        self.at(self.now + seconds, what)

    def run_until(self, time: float) -> None:
        """Let everything happen that is due until then; a call that waits may call this in turn."""
        entries = self._entries
        while entries and entries[0][0] <= time:
            self.now, _, what = heapq.heappop(entries)
            what()
        self.now = max(self.now, time)
