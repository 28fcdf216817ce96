"""What a person sees of a run: a block that lives at the bottom of a terminal, or plain lines.

Notes, problems and the allocator's lines go to standard error. The driver's own output is apart from them: it
goes to standard output, above the block when that is a terminal.
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
"""Executors that are drawn one by one; more are only counted."""
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
"""How an executor in each state is drawn: a sign and a colour."""


class View(Protocol):
    """Where a run is told. It is also a Progress (progress.py)."""

    def step(self, title: str) -> contextlib.AbstractContextManager[Callable[[str], None]]:
        """A step that takes a while; the function adds how far it is."""
        ...

    def say(self, text: str) -> None:
        """A line for the person."""
        ...

    def begin(self, title: str) -> None:
        """The run begins."""
        ...

    def show(self, status: Status) -> None:
        """The allocator has decided something."""
        ...

    def tasks(self, tasks: Tasks) -> None:
        """The tasks, as they are counted now."""
        ...

    def output(self, line: bytes) -> None:
        """A line that the driver has printed, with its line feed."""
        ...

    def end(self) -> None:
        """The run is over."""
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
        """One line when it begins."""
        self.say(f"{title} ...")
        yield lambda _: None

    def say(self, text: str) -> None:
        """A line of its own."""
        with self._lock, contextlib.suppress(OSError):
            self._stream.write(f"sparkgen: {visible(text)}\n")
            self._stream.flush()

    def begin(self, title: str) -> None:
        """Say what runs; times count from now."""
        self._began = self._clock()
        self.say(title)

    def show(self, status: Status) -> None:
        """A line for each decision that says something new."""
        text = line_of(status)
        if text != self._last:
            self._last = text
            self.say(f"{self._clock() - self._began:5.1f} s  {text}")

    def tasks(self, tasks: Tasks) -> None:
        """Nothing: lines tell what changes, and tasks always do."""

    def output(self, line: bytes) -> None:
        """The driver's line, as it is."""
        write_output(line)

    def end(self) -> None:
        """Nothing is left to say."""


def line_of(status: Status) -> str:
    """A decision in a line. Its reason begins with the executors that there are."""
    return status.reason or sentence(status)


def write_output(line: bytes) -> None:
    """A line of the driver to standard output: as it is, or for a terminal with its colours alone.

    A reader that went away is no reason to stop the driver.
    """
    with contextlib.suppress(OSError, ValueError):
        if sys.stdout.isatty():
            line = log_line(line.decode("utf-8", errors="surrogateescape")).encode(
                "utf-8", "backslashreplace"
            )
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


class History:
    """How many executors were registered, second by second, for a minute."""

    def __init__(self, seconds: int = HISTORY_SECONDS) -> None:
        self._samples: deque[int] = deque(maxlen=seconds)
        self._from: float | None = None
        self._taken = 0

    def sample(self, value: int, now: float) -> None:
        """Take in the value at `now`; called as often as one likes."""
        if self._from is None:
            self._from = now
        while self._taken <= now - self._from:
            self._samples.append(value)
            self._taken += 1

    def drawn(self) -> str:
        """A small chart, the latest second at the right."""
        most = max(self._samples, default=0)
        if not most:
            return ""
        return "".join(_BARS[-(-value * (len(_BARS) - 1) // most)] for value in self._samples)


def cells(status: Status) -> list[tuple[str, str]]:
    """The executors as signs with their colours, and a gap for each that is wanted and not there."""
    drawn: list[tuple[str, str]] = []
    for state in SHOWN:
        drawn += [LOOKS[state]] * status.counts.get(state, 0)
    return drawn + [("_", "bright_black")] * max(0, status.wanted - status.present)
