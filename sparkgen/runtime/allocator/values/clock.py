"""The clock and the random numbers that are passed to the allocator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockAndRandom:
    """A clock, in seconds (monotonic), and a source of random numbers from 0 to 1."""

    clock: Callable[[], float]
    random: Callable[[], float]
