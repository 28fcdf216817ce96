"""Reports to a session's allocator regularly that the command that started the session is alive."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkgen.errors import SparkgenError

EVERY_SECONDS = 10.0
"""Seconds between two reports. After a minute without a report, the allocator ends the session."""


class Heartbeat:
    """A thread that reports. `alive`: reports once, or raises SparkgenError; `say`: called about silence."""

    def __init__(self, alive: Callable[[], object], say: Callable[[str], None]) -> None:
        self._alive, self._say = alive, say
        self._ended = threading.Event()

    def start(self) -> None:
        """Start to report, at once."""
        threading.Thread(target=self._go_on, daemon=True).start()

    def stop(self) -> None:
        """Stop reporting."""
        self._ended.set()

    def _go_on(self) -> None:
        silent = False
        while not self._ended.is_set():
            try:
                self._alive()
            except SparkgenError as error:
                if not silent and not self._ended.is_set():
                    self._say(f"{error}; retrying")
                silent = True
            else:
                if silent:
                    self._say("the session's allocator answers again")
                silent = False
            self._ended.wait(EVERY_SECONDS)
