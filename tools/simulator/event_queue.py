"""Virtual time: all events in one queue. Nothing waits in real time, and nothing runs concurrently."""

from __future__ import annotations

import heapq
from collections.abc import Callable


class EventQueue:
    """The future events by time; events at the same time happen in the order in which they were added.

    `now` in seconds since the driver's pod was created.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0

    def at(self, time: float, what: Callable[[], None]) -> None:
        """Call `what` at a time; as soon as possible if this has passed."""
        self._count += 1
        heapq.heappush(self._entries, (max(time, self.now), self._count, what))

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Call `what` after this many seconds."""
        self.at(self.now + seconds, what)

    def run_until(self, time: float) -> None:
        """Run all events up to a time, and set `now` to it; an event that waits may call this itself."""
        entries = self._entries
        while entries and entries[0][0] <= time:
            self.now, _, what = heapq.heappop(entries)
            what()
        self.now = max(self.now, time)
