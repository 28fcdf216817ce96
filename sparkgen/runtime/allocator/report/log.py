"""The log: a line of text each, or of JSON.

A secret is in none of the values that this module is given.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from sparkgen.runtime.allocator.report import log_form
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine

RECENT = 50
"""Lines of the log that /status shows."""


@dataclass(slots=True)
class Log:
    """The log: a line of text each, or of JSON. `now`: the time with its zone, for the lines."""

    stream: TextIO
    now: Callable[[], datetime]
    as_json: bool = False
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines, the oldest first, for people: without their facts."""
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last of them that were warnings or errors."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, line: LogLine) -> None:
        """Write one line; whoever reads the log may be gone. Its text may be anybody's."""
        moment = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        sentence = log_form.sentence(moment, line)
        self.recent.append(sentence)
        if line.level is not LogLevel.INFO:
            self.troubles.append(sentence)
        text = (log_form.json_line if self.as_json else log_form.text_line)(moment, line)
        try:
            with self._lock:
                self.stream.write(text + "\n")
                self.stream.flush()
        except OSError:
            return

    def say(self, event: LogEvent, text: str, level: LogLevel = LogLevel.INFO, **facts: Any) -> None:
        """Write a line about something that is no round of the loop."""
        self.write(LogLine(event, text, level, facts))
