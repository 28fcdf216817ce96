"""Sends notices to the user as Events, each once, on its own thread."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable

from sparkgen.runtime.allocator.values.backend import Notice

SAME_AGAIN = 600.0
"""Seconds until the same notice may be sent again."""

NEXT_OF_A_KIND = 10.0
"""Seconds between two notices with one reason and different texts: the log has them all."""

WAITING_NOTICES = 20
"""The most notices that wait to be sent, and that wait for a retry; further ones are only in the log."""

TRY_AGAIN = 30.0
"""Seconds until a failed notice is sent again."""


class EventRecorder:
    """Sends notices to the user, each once, on its own thread, so that the loop never waits for it.

    `send` returns False if a retry may help; the notice is then repeated until it is `SAME_AGAIN` old.
    """

    def __init__(self, send: Callable[[Notice], bool], clock: Callable[[], float]) -> None:
        self._send = send
        self._again: deque[tuple[float, float, Notice]] = deque()
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}
        self._last: dict[str, float] = {}
        self._waiting: queue.Queue[Notice] = queue.Queue(WAITING_NOTICES)

    def notice(self, notice: Notice) -> bool:
        """Send a notice, unless it was sent lately; returns whether it will be sent."""
        now, key = self._clock(), (notice.reason, str(notice.hindrance))
        if now - self._told.get(key, -SAME_AGAIN) < SAME_AGAIN:
            return False
        if now - self._last.get(notice.reason, -NEXT_OF_A_KIND) < NEXT_OF_A_KIND:
            return False
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            return False
        self._told = {told: when for told, when in self._told.items() if now - when < SAME_AGAIN}
        self._told[key] = self._last[notice.reason] = now
        return True

    @property
    def waits(self) -> int:
        """How many notices wait for a retry."""
        return len(self._again)

    def run(self) -> None:
        """Send notices, forever; for a daemon thread."""
        while True:
            self.step()

    def step(self) -> None:
        """Wait for the next new notice, or for the next retry that is due, and send it."""
        pause = max(0.0, self._again[0][0] - self._clock()) if self._again else None
        try:
            notice, since = self._waiting.get(timeout=pause), self._clock()
        except queue.Empty:
            _, since, notice = self._again.popleft()
        if self._send(notice):
            return
        due = self._clock() + TRY_AGAIN
        if due - since < SAME_AGAIN and len(self._again) < WAITING_NOTICES:
            self._again.append((due, since, notice))
