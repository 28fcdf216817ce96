"""Time and randomness, as they are passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockAndRandom:
    """Time and chance: `clock` in seconds (monotonic), `random` from 0 to 1."""

    clock: Callable[[], float]
    random: Callable[[], float]
