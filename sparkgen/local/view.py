"""What a user sees of a run: a live block at the bottom of a terminal, or plain lines.

Notes, problems and the allocator's lines go to standard error. The driver's own output is separate: it goes
to standard output, above the block if that is a terminal.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol, TextIO

from sparkgen.local.status import SHOWN, Status, Tasks, sentence
from sparkgen.runtime.allocator.values.observed import ExecutorState
from sparkgen.terminal import log_line, visible

MOST_CELLS = 60
"""The most executors that are drawn one by one; more are only counted."""
HISTORY_SECONDS = 60
_BARS = " ▁▂▃▄▅▆▇█"

LOOKS = {
    ExecutorState.REGISTERED: ("●", "green"),
    ExecutorState.RUNNING: ("◐", "cyan"),
    ExecutorState.PENDING: ("○", "yellow"),
    ExecutorState.REQUESTED: ("◌", "yellow"),
    ExecutorState.PLANNED: ("·", "white"),
    ExecutorState.DRAINING: ("◍", "magenta"),
}
"""The sign and colour for an executor in each state."""


class View(Protocol):
    """Receives what happens in a run. It is also a Progress (progress.py)."""

    def step(self, title: str) -> contextlib.AbstractContextManager[Callable[[str], None]]:
        """A step that takes a while; the yielded function reports its progress."""
        ...

    def say(self, text: str) -> None:
        """Show a line to the user."""
        ...

    def begin(self, title: str) -> None:
        """Show that the run begins."""
        ...

    def show(self, status: Status) -> None:
        """Show the status after a decision."""
        ...

    def tasks(self, tasks: Tasks) -> None:
        """Show the current tasks."""
        ...

    def output(self, line: bytes) -> None:
        """Show a line that the driver has printed, with its line feed."""
        ...

    def end(self) -> None:
        """Show that the run is over."""
        ...


class Plain:
    """Plain lines, for a file, a pipe or CI. `clock` in seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._began = clock()
        self._last = ""
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """Print one line when the step begins."""
        self.say(f"{title} ...")
        yield lambda _: None

    def say(self, text: str) -> None:
        """Print a line."""
        with self._lock, contextlib.suppress(OSError):
            self._stream.write(f"sparkgen: {visible(text)}\n")
            self._stream.flush()

    def begin(self, title: str) -> None:
        """Print the title; times count from now on."""
        self._began = self._clock()
        self.say(title)

    def show(self, status: Status) -> None:
        """Print a line for each decision that differs from the last one."""
        text = line_of(status)
        if text != self._last:
            self._last = text
            self.say(f"{self._clock() - self._began:5.1f} s  {text}")

    def tasks(self, tasks: Tasks) -> None:
        """Do nothing: lines show changes, and tasks change all the time."""

    def output(self, line: bytes) -> None:
        """Print the driver's line, unchanged."""
        write_output(line)

    def end(self) -> None:
        """Do nothing."""


def line_of(status: Status) -> str:
    """A decision in one line. Its reason begins with the numbers of executors."""
    return status.reason or sentence(status)


def write_output(line: bytes) -> None:
    """Write a line of the driver to standard output: unchanged, or for a terminal with only its colours.

    If the reader of standard output has gone away, the driver keeps running.
    """
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout.isatty():
            line = log_line(line.decode("utf-8", errors="surrogateescape")).encode(
                "utf-8", "backslashreplace"
            )
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


class History:
    """The number of registered executors, second by second, for a minute."""

    def __init__(self, seconds: int = HISTORY_SECONDS) -> None:
        self._samples: deque[int] = deque(maxlen=seconds)
        self._from: float | None = None
        self._taken = 0

    def sample(self, value: int, now: float) -> None:
        """Record the value at `now`; may be called at any rate."""
        if self._from is None:
            self._from = now
        while self._taken <= now - self._from:
            self._samples.append(value)
            self._taken += 1

    def drawn(self) -> str:
        """A small chart, with the latest second at the right."""
        most = max(self._samples, default=0)
        if not most:
            return ""
        return "".join(_BARS[-(-value * (len(_BARS) - 1) // most)] for value in self._samples)


def cells(status: Status) -> list[tuple[str, str]]:
    """The executors as signs with colours, and a gap for each wanted one that does not exist."""
    drawn: list[tuple[str, str]] = []
    for state in SHOWN:
        drawn += [LOOKS[state]] * status.counts.get(state, 0)
    return drawn + [("_", "bright_black")] * max(0, status.wanted - status.present)
