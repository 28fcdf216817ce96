"""Prints all output: data on standard output, everything else on standard error.

Everything that a command prints goes through this module, and so does what typer prints for it. Text from
outside cannot move the cursor, hide other text, or give a CI runner an order (sparkgen/terminal.py). Data
(manifests, JSON) stays exact if a program reads it; the writers of data have escaped the same characters in
their own way.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from sparkgen.errors import SparkgenError
from sparkgen.terminal import for_terminal, log_line, readable, visible

if TYPE_CHECKING:
    from sparkgen.reports import Lines

STDIN = "<stdin>"
_LINE_END = re.compile(r"\r\n|\r|\n")
# The exit code of a program that SIGPIPE ended, as shells report it.
_CLOSED_PIPE = 141
_REDRAW = "\r\x1b[K"
_outliving: set[object] = set()
"""An object for each block inside `outliving_readers`, whatever thread it is in."""


def write(text: str, *, coloured: bool = False) -> None:
    """Print text for people on standard output: a table, a diff, names.

    `coloured`: the colours in it are sparkgen's, and stay. If the reader has closed the pipe, the program
    exits without a message. Raises SparkgenError if the text cannot be written, as on a full disk.
    """
    _send(sys.stdout, readable(text, colours=coloured))


def data(text: str, stream: TextIO | None = None) -> None:
    """Print data, on standard output by default: UTF-8 and line feeds, exact except on a terminal."""
    stream = stream or sys.stdout
    _send(stream, for_terminal(text) if stream.isatty() else text)


def log(line: str, sentence: Callable[[str], str] | None = None) -> None:
    """Print a line of an application's log: its bytes; on a terminal, its text and colours.

    Bytes that are not UTF-8 are surrogates in `line` (`surrogateescape`). `sentence`: returns the part of the
    line for people, for a terminal.
    """
    if sys.stdout.isatty():
        line = log_line(sentence(line) if sentence else line)
    _send(sys.stdout, line, "surrogateescape")


def note(text: str) -> None:
    """Print a line for the person at the terminal. It stays one line, whatever its values contain."""
    _send(sys.stderr, f"{readable(visible(text))}\n")


def say(text: str) -> None:
    """Print a line about the work of a command: a problem that it can do without, or what it waits for."""
    note(f"sparkgen: {text}")


def complain(text: str, *, coloured: bool = False) -> None:
    """Print text about problems, with its own line ends. Each value in it is on one line already."""
    _send(sys.stderr, readable(text, colours=coloured))


def fail(text: str) -> None:
    """Print why a command ends. Further lines are indented, so that none looks like one of sparkgen's own."""
    first, *more = text.split("\n")
    rest = "".join(f"\n  {visible(line)}" for line in more if line.strip())
    _send(sys.stderr, f"{readable(visible(first) + rest)}\n")


def _redraw(text: str = "") -> None:
    """Replace the last line on a terminal; "" removes it."""
    _send(sys.stderr, f"{_REDRAW}{readable(visible(text))}")


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user says yes, here or with `yes`. Raises SparkgenError without a terminal to ask on."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise SparkgenError(f"{question} Cannot ask without a terminal; add --yes")
    complain(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    note("canceled; nothing was changed")
    return False


@contextmanager
def live_line() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows how far the work is: one line on a terminal, nothing elsewhere."""
    terminal, shown = sys.stderr.isatty(), False

    def show(words: str) -> None:
        nonlocal shown
        if terminal:
            shown = True
            _redraw(words)

    try:
        yield show
    finally:
        if shown:
            _redraw()


@contextmanager
def progress(total: int, what: str = "rendered") -> Iterator[Callable[[int], None]]:
    """Yields a function to call with the number of documents that are done, out of `total`."""
    with live_line() as show:
        yield lambda done: show(f"{what} {done} of {total} documents")


@contextmanager
def outliving_readers() -> Iterator[None]:
    """Inside, a closed pipe does not end the program or a thread of it: further output is dropped."""
    block = object()
    _outliving.add(block)
    try:
        yield
    finally:
        _outliving.discard(block)


@contextmanager
def through_here() -> Iterator[None]:
    """Inside, a library's output goes through this module: help and completions as data, errors as text."""
    before = sys.stdout, sys.stderr
    sys.stdout = cast("TextIO", _Passed(before[0], exact=True))
    sys.stderr = cast("TextIO", _Passed(before[1], exact=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Passed:
    """A standard stream whose texts are printed by `_send`. Everything else is that of the stream."""

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
        # Python flushes the stream again when it exits, and would then print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            if _outliving:
                return
            raise SystemExit(_CLOSED_PIPE) from None
        name = "standard error" if stream.fileno() == sys.stderr.fileno() else "standard output"
        raise SparkgenError(f"cannot write to {name}: {error.strerror}; the output is incomplete") from None


def use_colour(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether to colour text.

    First the option decides, then NO_COLOR, then FORCE_COLOR (https://force-color.org), then whether the
    stream is a terminal that can show colours.
    """
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def source_lines(stdin: bytes) -> Lines:
    """Returns a function that gives any line of an input file, or of what was read from standard input."""
    known: dict[str, list[str]] = {}

    def line(file: str, number: int) -> str:
        if file not in known:
            known[file] = _LINE_END.split(_text(file, stdin))
        lines = known[file]
        return lines[number - 1] if 0 < number <= len(lines) else ""

    return line


def _text(file: str, stdin: bytes) -> str:
    """Returns a file's text for an excerpt; "" for an option, or if the file cannot be read any more."""
    from sparkgen.document.sources import read_file  # noqa: PLC0415 - only where there is something to say

    data = stdin if file == STDIN else read_file(file) if Path(file).is_file() else b""
    return data.decode("utf-8-sig", errors="replace") if isinstance(data, bytes) else ""
