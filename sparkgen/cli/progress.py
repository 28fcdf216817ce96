"""Shows the progress of a long command: one line on a terminal, removed at the end; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sparkgen.cli import output


@contextmanager
def progress(total: int, what: str = "rendered") -> Iterator[Callable[[int], None]]:
    """Yields a function to call with the number of documents that are done, out of `total`."""
    with live_line() as show:
        yield lambda done: show(f"{what} {done} of {total} documents")


@contextmanager
def live_line() -> Iterator[Callable[[str], None]]:
    """Yields a function that shows how far the work is, in words."""
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
