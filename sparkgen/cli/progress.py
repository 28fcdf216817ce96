"""How far a long command is: one line on a terminal, which goes when the work is done; nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sparkgen.cli import output


@contextmanager
def progress(total: int, what: str = "rendered") -> Iterator[Callable[[int], None]]:
    """A function that is told how many of `total` documents are done."""
    terminal, shown = sys.stderr.isatty(), False

    def show(done: int) -> None:
        nonlocal shown
        if terminal:
            shown = True
            output.redraw(f"{what} {done} of {total} documents")

    try:
        yield show
    finally:
        if shown:
            output.redraw()
