"""The driver's output: passes on its lines, and keeps the last ones that may explain a failure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

LAST_LINES = 25
_CHATTER = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:WARN|INFO|DEBUG|TRACE) ")
"""Lines of Spark's log, in the layout of log4j2.properties, that are no errors: they explain no failure."""
TAIL_BYTES = 256 * 1024


class Output:
    """Passes on what the driver prints, line by line, and keeps the last lines."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._last: deque[str] = deque(maxlen=LAST_LINES)

    def follow(self, stream: IO[bytes]) -> None:
        """Pass on each line until the end; adds a line feed to the last one if it has none."""
        for line in stream:
            self._last.append(line.decode("utf-8", errors="replace").rstrip())
            self._write(line if line.endswith(b"\n") else line + b"\n")

    def explanation(self, log: Path) -> list[str]:
        """The last lines that may explain a failure: those of the log, or else those that the driver printed.

        spark-submit redirects Python's standard error to its own standard output (PythonRunner).
        """
        return last_lines(log) or list(self._last)


def last_lines(log: Path) -> list[str]:
    """The last lines of a log, without lines of Spark that are no errors."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    said = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line for line in said if not _CHATTER.match(line)][-LAST_LINES:]
