"""The view for a terminal: a block at its bottom, drawn a few times a second, and lines above it."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sparkgen.local.status import SHOWN, Status, Tasks
from sparkgen.local.view import MOST_CELLS, History, cells, write_output
from sparkgen.runtime.allocator.values.observed import ExecutorState
from sparkgen.terminal import log_line, visible

REFRESHES_PER_SECOND = 4


class Terminal:
    """A live block. `clock` in seconds."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._lock = threading.Lock()
        self._began = clock()
        self._title = ""
        self._status: Status | None = None
        self._tasks: Tasks | None = None
        self._history = History()
        self._live: Live | None = None

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[Callable[[str], None]]:
        """A line with a spinner, which disappears when the step ends."""
        with self._console.status(Text(title)) as spinner:
            yield lambda detail: spinner.update(Text(f"{title}: {detail}" if detail else title))

    def say(self, text: str) -> None:
        """Print a line above the block."""
        self._console.print(Text(f"sparkgen: {visible(text)}"), soft_wrap=True)

    def begin(self, title: str) -> None:
        """Show the block."""
        self._began = self._clock()
        self._title = title
        self._live = Live(
            get_renderable=self._drawn,
            console=self._console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def show(self, status: Status) -> None:
        """Show the status after a decision."""
        with self._lock:
            self._status = status

    def tasks(self, tasks: Tasks) -> None:
        """Show the current tasks."""
        with self._lock:
            self._tasks = tasks

    def output(self, line: bytes) -> None:
        """Print a line of the driver: above the block, or to standard output if that is not a terminal."""
        if sys.stdout.isatty():
            text = log_line(line.decode("utf-8", errors="surrogateescape")).rstrip("\n")
            self._console.print(Text.from_ansi(text), soft_wrap=True)
        else:
            write_output(line)

    def end(self) -> None:
        """Remove the block."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _drawn(self) -> Group:
        with self._lock:
            status, tasks = self._status, self._tasks
        now = self._clock()
        self._history.sample(status.counts.get(ExecutorState.REGISTERED, 0) if status else 0, now)
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="bright_black", no_wrap=True)
        rows.add_column()
        rows.add_row("executors", executors(status))
        if chart := self._history.drawn():
            rows.add_row("last minute", Text(chart, style="green"))
        if tasks is not None:
            rows.add_row("tasks", _tasks(tasks))
        rows.add_row(
            "decision",
            Text(visible(status.reason) if status else "the driver is starting", overflow="ellipsis"),
        )
        title = Text(f"{self._title} · {now - self._began:.0f} s · Ctrl-C stops it", style="bold")
        return Group(Text("─" * min(self._console.width, 80), style="bright_black"), title, rows)


def executors(status: Status | None) -> Text:
    """The executors as signs, and their numbers."""
    if status is None:
        return Text("none yet")
    text = Text()
    drawn = cells(status)
    if len(drawn) <= MOST_CELLS:
        for sign, colour in drawn:
            text.append(f"{sign} ", style=colour)
    counted = ", ".join(
        f"{status.counts[state]} {state.value}" for state in SHOWN if status.counts.get(state)
    )
    text.append(f" {status.present} of {status.wanted}" + (f": {counted}" if counted else ""))
    return text


def _tasks(tasks: Tasks) -> Text:
    failed = f", {tasks.failed} failed" if tasks.failed else ""
    return Text(f"{tasks.active} running, {tasks.done} done{failed}")
