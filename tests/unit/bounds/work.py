"""How much work a function makes, counted and not timed: the lines of Python that run, and the calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def work(function: Callable[[], object]) -> int:
    """The lines that run, in every module. What a function in C does counts as a part of its line."""
    number = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal number
        number += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        function()
    finally:
        sys.settrace(before)
    return number
