"""The log: a line of text each, or of JSON.

A secret is in none of the values that this module is given.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TextIO

from sparkgen.runtime.allocator.report.log_lines import LogLevel, LogLine
from sparkgen.runtime.kubernetes.untrusted import shown

RECENT = 50
"""Lines of the log that /status shows."""


@dataclass(slots=True)
class Log:
    """The log: a line of text each, or of JSON. `now`: the time with its zone, for the lines."""

    stream: TextIO
    now: Callable[[], datetime]
    as_json: bool = False
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last lines, the oldest first."""
    troubles: deque[str] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last of them that were warnings or errors."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, line: LogLine) -> None:
        """Write one line; whoever reads the log may be gone. Its text may be anybody's."""
        moment = self.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = shown(_text_line(moment, line))
        self.recent.append(text)
        if line.level is not LogLevel.INFO:
            self.troubles.append(text)
        if self.as_json:
            text = shown(_json_line(moment, line))
        try:
            with self._lock:
                self.stream.write(text + "\n")
                self.stream.flush()
        except OSError:
            return

    def say(self, text: str, level: LogLevel = LogLevel.INFO, **facts: Any) -> None:
        """Write a line about something that is no round of the loop."""
        self.write(LogLine(text, level, facts))


def _text_line(moment: str, line: LogLine) -> str:
    return f"{moment} {line.level.value:<7} {' '.join(line.text.split())}"


def _json_line(moment: str, line: LogLine) -> str:
    body: Mapping[str, Any] = {
        **line.facts,
        "time": moment,
        "level": line.level.value,
        "message": line.text,
    }
    return json.dumps(body, ensure_ascii=False, sort_keys=True, default=str)
