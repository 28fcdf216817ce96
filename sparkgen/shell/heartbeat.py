"""Say to a session's allocator, again and again, that the command that began it is there."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkgen.errors import SparkgenError

EVERY_SECONDS = 10.0
"""A minute of silence ends a session."""


class Heartbeat:
    """A thread that says it. `alive`: says it once, or a SparkgenError; `say`: is told of silence."""

    def __init__(self, alive: Callable[[], object], say: Callable[[str], None]) -> None:
        self._alive, self._say = alive, say
        self._ended = threading.Event()

    def start(self) -> None:
        """Begin, now."""
        threading.Thread(target=self._go_on, daemon=True).start()

    def stop(self) -> None:
        """End it."""
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
