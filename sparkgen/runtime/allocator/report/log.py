"""Writes the log: one line per entry, as text or JSON.

No value that this module gets contains a secret.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from sparkgen.runtime.allocator.report import log_form
from sparkgen.runtime.allocator.report.log_files import LogFiles
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine

RECENT = 50
"""The number of lines of the log that /status shows."""


@dataclass(slots=True)
class Log:
    """Writes the log, as text or JSON. `now` returns the time with its zone, for the lines."""

    stream: TextIO | LogFiles
    now: Callable[[], datetime]
    as_json: bool = False
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines, the oldest first, for people: without their facts."""
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines that were warnings or errors."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, line: LogLine) -> None:
        """Write one line, which may contain untrusted text. Ignores OSError: the reader may be gone."""
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
        """Write a line about something other than a round of the loop."""
        self.write(LogLine(event, text, level, facts))
