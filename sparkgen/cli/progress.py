"""How far a long command is: one line on a terminal, which goes when the work is done; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sparkgen.cli import output


@contextmanager
def progress(total: int, what: str = "rendered") -> Iterator[Callable[[int], None]]:
    """A function that is told how many of `total` documents are done."""
    with live_line() as show:
        yield lambda done: show(f"{what} {done} of {total} documents")


@contextmanager
def live_line() -> Iterator[Callable[[str], None]]:
    """A function that is told how far the work is, in words."""
    terminal, shown = sys.stderr.isatty(), False

    def show(words: str) -> None:
        nonlocal shown
        if terminal:
            shown = True
            output.redraw(words)

    try:
        yield show
    finally:
        if shown:
            output.redraw()
