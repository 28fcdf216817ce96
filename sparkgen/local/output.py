"""The driver's output: its lines as they come, and the last ones that say something when it fails."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO

LAST_LINES = 25
_CHATTER = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?:WARN|INFO|DEBUG|TRACE) ")
"""Spark's log in the layout of log4j2.properties: what is no error does not explain a failure."""
TAIL_BYTES = 256 * 1024


class Output:
    """What the driver prints, passed on line by line. Its last lines are kept."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._last: deque[str] = deque(maxlen=LAST_LINES)

    def follow(self, stream: IO[bytes]) -> None:
        """Pass on each line until the end; the last one may have no line feed, and gets one."""
        for line in stream:
            self._last.append(line.decode("utf-8", errors="replace").rstrip())
            self._write(line if line.endswith(b"\n") else line + b"\n")

    def explanation(self, log: Path) -> list[str]:
        """The last lines that say something about a failure: those of the log, or else what was printed.

        spark-submit gives Python's standard error the way of its standard output (PythonRunner).
        """
        return last_lines(log) or list(self._last)


def last_lines(log: Path) -> list[str]:
    """The last lines of a log, less what Spark says when all is well."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    said = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line for line in said if not _CHATTER.match(line)][-LAST_LINES:]
