"""The end of what a command has started in a cluster: in a limited time, and not stopped by Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TypeVar

from sparkgen.errors import SparkgenError
from sparkgen.thread_map import within

_Result = TypeVar("_Result")


def end_in_time(seconds: float, end: Callable[[], _Result]) -> _Result:
    """Returns what `end` returns. Raises SparkgenError if it fails or takes longer. Ctrl-C has no effect."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return within(seconds, end)
    except TimeoutError as error:
        raise SparkgenError(f"the cluster did not answer within {seconds:.0f}s") from error
    finally:
        signal.signal(signal.SIGINT, before)
