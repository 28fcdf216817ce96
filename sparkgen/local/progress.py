"""The protocol for reporting progress while something takes a while."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from sparkgen.local.errors import CannotRun

TICK_SECONDS = 0.5
TAIL_LINES = 15


class Progress(Protocol):
    """Receives steps; a terminal shows the latest text, a log file has one line per step."""

    def step(self, title: str) -> AbstractContextManager[Callable[[str], None]]:
        """A step that lasts as long as the context; the yielded function reports its progress."""
        ...

    def say(self, text: str) -> None:
        """Report a plain line."""
        ...


def run(
    progress: Progress,
    title: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    detail: Callable[[], str] = lambda: "",
) -> str:
    """Run a command like `ended`, and return its output. Raises CannotRun with the last lines if it fails."""
    code, said = ended(progress, title, command, environment=environment, folder=folder, detail=detail)
    if code:
        raise CannotRun(f"{title}: failed with {code}\n{tail(said)}")
    return said


def ended(
    progress: Progress,
    title: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    detail: Callable[[], str] = lambda: "",
) -> tuple[int, str]:
    """Run a command to its end. Returns its exit code and its output. Raises CannotRun if it does not start.

    `folder`: its working directory; by default this process's. `detail` returns its progress, each half
    second.
    """
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output,
        progress.step(title) as tell,
    ):
        try:
            process = subprocess.Popen(
                list(command),
                env=None if environment is None else dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            raise CannotRun(f"{title}: cannot start {command[0]}: {error.strerror}") from None
        try:
            code = _watch(process, tell, detail)
        except BaseException:  # an interrupt, above all: end the command, too
            process.terminate()
            process.wait()
            raise
        output.seek(0)
        return code, output.read()


def _watch(process: subprocess.Popen[bytes], tell: Callable[[str], None], detail: Callable[[], str]) -> int:
    began = time.monotonic()
    while True:
        try:
            return process.wait(TICK_SECONDS)
        except subprocess.TimeoutExpired:
            tell(", ".join(filter(None, (detail(), f"{time.monotonic() - began:.0f} s"))))


def tail(text: str, lines: int = TAIL_LINES) -> str:
    """The last lines that are not blank, indented."""
    said = [line.rstrip() for line in text.splitlines() if line.strip()]
    return "\n".join(f"  {line}" for line in said[-lines:])


def megabytes(folder: Path) -> float:
    """The size of all files below a folder, in MB; files and folders that disappear do not count."""
    total = 0
    # Not Path.rglob, which raises an error if a folder disappears before it is read.
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - as os.walk gives it
    return total / 1e6
