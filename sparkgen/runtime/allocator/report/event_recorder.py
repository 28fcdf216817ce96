"""Sends what a user must know, each notice once, on a thread of its own."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable

from sparkgen.runtime.allocator.values.backend import Notice

SAME_AGAIN = 600.0
"""Seconds until the same notice is told again."""

NEXT_OF_A_KIND = 10.0
"""Seconds between two notices with one reason and different texts: the log has them all."""

WAITING_NOTICES = 20
"""Notices that wait to be sent, and as many that wait for another try; more than that is left to the log."""

TRY_AGAIN = 30.0
"""Seconds until a notice that could not be sent is sent again."""


class EventRecorder:
    """Sends notices to the user, each once, on a thread of its own: the loop never waits for it.

    `send` says whether that is done with; one that is not is tried again, until it is `SAME_AGAIN` old.
    """

    def __init__(self, send: Callable[[Notice], bool], clock: Callable[[], float]) -> None:
        self._send = send
        self._again: deque[tuple[float, float, Notice]] = deque()
        self._clock = clock
        self._told: dict[tuple[str, str], float] = {}
        self._last: dict[str, float] = {}
        self._waiting: queue.Queue[Notice] = queue.Queue(WAITING_NOTICES)

    def notice(self, notice: Notice) -> bool:
        """Send it, if it was not sent lately; whether it will be."""
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
        """How many wait for another try."""
        return len(self._again)

    def run(self) -> None:
        """Send what comes, forever: for a thread that does not keep the process."""
        while True:
            self.step()

    def step(self) -> None:
        """Wait for the next one to send, a new one or one whose time has come again, and send it."""
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
