"""What goes to the terminal: data on standard output, everything else on standard error."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.reports import Lines

STDIN = "<stdin>"
_LINE_END = re.compile(r"\r\n|\r|\n")
# The exit code of a program that a closed pipe ended, as shells give it for SIGPIPE.
_CLOSED_PIPE = 141
_OUTLIVES: ContextVar[bool] = ContextVar("outlives", default=False)


def write(text: str) -> None:
    """Print data: UTF-8 and line feeds on every machine.

    A reader that went away ends the program without a word. SparkgenError where the text cannot go, as on a
    full disk.
    """
    _send(sys.stdout, text)


def note(text: str) -> None:
    """Print a line for the person at the terminal."""
    _send(sys.stderr, f"{text}\n")


def complain(text: str) -> None:
    """Print text about problems, which ends its lines itself."""
    _send(sys.stderr, text)


@contextmanager
def outliving_readers() -> Iterator[None]:
    """Inside, a reader that went away ends nothing: what is still to be said is said to nobody."""
    before = _OUTLIVES.set(True)
    try:
        yield
    finally:
        _OUTLIVES.reset(before)


def _send(stream: TextIO, text: str) -> None:
    try:
        stream.flush()
        stream.buffer.write(text.encode("utf-8", errors="backslashreplace"))
        stream.buffer.flush()
    except OSError as error:
        # Python flushes once more at its end, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            if _OUTLIVES.get():
                return
            raise SystemExit(_CLOSED_PIPE) from None
        name = "standard error" if stream is sys.stderr else "standard output"
        raise SparkgenError(
            f"cannot write to {name}: {error.strerror}; what it has got is not whole"
        ) from None


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
    if file == STDIN:
        data = stdin
    else:
        try:
            data = Path(file).read_bytes() if Path(file).is_file() else b""
        except OSError:
            data = b""
    return data.decode("utf-8-sig", errors="replace")
