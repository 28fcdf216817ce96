"""What goes to the terminal: data on standard output, everything else on standard error.

All that a command prints goes through here, and so does what typer prints for it: nothing that came from
outside moves a cursor, hides, or gives a CI runner an order (sparkgen/terminal.py). Data (manifests, JSON) is
exact where a program reads it; whoever writes data has escaped the same characters in its own way.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from sparkgen.errors import SparkgenError
from sparkgen.terminal import for_terminal, log_line, readable, visible

if TYPE_CHECKING:
    from sparkgen.reports import Lines

STDIN = "<stdin>"
_LINE_END = re.compile(r"\r\n|\r|\n")
# The exit code of a program that a closed pipe ended, as shells give it for SIGPIPE.
_CLOSED_PIPE = 141
_REDRAW = "\r\x1b[K"
_OUTLIVES: ContextVar[bool] = ContextVar("outlives", default=False)


def write(text: str, *, coloured: bool = False) -> None:
    """Print text for people on standard output: a table, a diff, names.

    `coloured`: the colours in it are ours, and stay. A reader that went away ends the program without a word.
    SparkgenError where the text cannot go, as on a full disk.
    """
    _send(sys.stdout, readable(text, colours=coloured))


def data(text: str, stream: TextIO | None = None) -> None:
    """Print data, on standard output as a rule: UTF-8 and line feeds, exactly but for a terminal."""
    stream = stream or sys.stdout
    _send(stream, for_terminal(text) if stream.isatty() else text)


def log(line: str, sentence: Callable[[str], str] | None = None) -> None:
    """Print a line of an application's log: its bytes, or for a terminal its text and colours.

    What is no UTF-8 in it came as surrogates (`surrogateescape`). `sentence`: what of it a person reads.
    """
    if sys.stdout.isatty():
        line = log_line(sentence(line) if sentence else line)
    _send(sys.stdout, line, "surrogateescape")


def note(text: str) -> None:
    """Print a line for the person at the terminal. It stays one line, whatever a value in it holds."""
    _send(sys.stderr, f"{readable(visible(text))}\n")


def complain(text: str, *, coloured: bool = False) -> None:
    """Print text about problems, which ends its lines itself. Values in it are on one line each already."""
    _send(sys.stderr, readable(text, colours=coloured))


def fail(text: str) -> None:
    """Print why a command ends. Further lines are moved to the right: none can be taken for one of ours."""
    first, *more = text.split("\n")
    rest = "".join(f"\n  {visible(line)}" for line in more if line.strip())
    _send(sys.stderr, f"{readable(visible(first) + rest)}\n")


def redraw(text: str = "") -> None:
    """Put a line in the place of the last one, on a terminal; "" takes it away."""
    _send(sys.stderr, f"{_REDRAW}{readable(visible(text))}")


@contextmanager
def outliving_readers() -> Iterator[None]:
    """Inside, a reader that went away ends nothing: what is still to be said is said to nobody."""
    before = _OUTLIVES.set(True)
    try:
        yield
    finally:
        _OUTLIVES.reset(before)


@contextmanager
def through_here() -> Iterator[None]:
    """Inside, what a library prints goes the same way: help and completions as data, its errors as text."""
    before = sys.stdout, sys.stderr
    sys.stdout = cast("TextIO", _Passed(before[0], exact=True))
    sys.stderr = cast("TextIO", _Passed(before[1], exact=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Passed:
    """A standard stream whose texts are sent on by `_send`. All else of the stream is its own."""

    encoding, errors = "utf-8", "backslashreplace"

    def __init__(self, stream: TextIO, *, exact: bool) -> None:
        self._stream, self._exact = stream, exact

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Print text."""
        if self._exact:
            data(text, self._stream)
        else:
            _send(self._stream, readable(text))
        return len(text)


def _send(stream: TextIO, text: str, unknown: str = "backslashreplace") -> None:
    try:
        stream.flush()
        stream.buffer.write(text.encode("utf-8", errors=unknown))
        stream.buffer.flush()
    except OSError as error:
        # Python flushes once more at its end, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            if _OUTLIVES.get():
                return
            raise SystemExit(_CLOSED_PIPE) from None
        name = "standard error" if stream.fileno() == sys.stderr.fileno() else "standard output"
        raise SparkgenError(f"cannot write to {name}: {error.strerror}; the output is incomplete") from None


def use_colour(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour text.

    The option, then NO_COLOR, then FORCE_COLOR (https://force-color.org), then whether a person looks.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def source_lines(stdin: bytes) -> Lines:
    """A function that gives any line of an input file, or of what was read from standard input."""
    known: dict[str, list[str]] = {}

    def line(file: str, number: int) -> str:
        if file not in known:
            known[file] = _LINE_END.split(_text(file, stdin))
        lines = known[file]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    return line


def _text(file: str, stdin: bytes) -> str:
    """The text of a file for an excerpt; "" for what is no file (an option) or cannot be read any more."""
    from sparkgen.document.sources import read_file  # noqa: PLC0415 - only where there is something to say

    data = stdin if file == STDIN else read_file(file) if Path(file).is_file() else b""
    return data.decode("utf-8-sig", errors="replace") if isinstance(data, bytes) else ""
