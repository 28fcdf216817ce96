"""Handles signals during work that must not be interrupted partway."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

_ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def cleanly_ended() -> Iterator[None]:
    """Let SIGTERM end the program as an exception (SystemExit) does.

    So open files are closed, and unfinished work is undone.
    """
    if not _in_main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Hold back the signals that would end the program; deliver the first of them afterwards."""
    if not _in_main_thread():
        yield
        return
    seen: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        for number in _ENDING:
            signal.signal(number, lambda number, _frame: seen.append(number))
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:  # None: set by something other than Python
                signal.signal(number, handler)
        if seen:
            signal.raise_signal(seen[0])


def _in_main_thread() -> bool:
    """Whether this is the main thread: only there can handlers be set, and do they run."""
    return threading.current_thread() is threading.main_thread()


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
