"""Leaves a command in order when a signal ends it, so that what it has started in a cluster ends, too."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def leaving_by_signals() -> Iterator[None]:
    """In this context, the first SIGTERM or SIGHUP raises SystemExit, so that `finally` clauses run."""
    left = False

    def leave(number: int, _frame: FrameType | None) -> None:
        nonlocal left
        if not left:
            left = True
            raise SystemExit(128 + number)

    wanted = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, leave) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
