"""What the driver wants: the state of docs/design/protocol.md as a value."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP

LONGEST_DELIVERY = 10.0
"""Seconds that a word of the driver may take to arrive: what is heard later was said later."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What an executor of a resource profile needs; memory in MiB, `resources` by Spark's names ("gpu")."""

    cores: int = 1
    memory: int = 1024
    overhead: int = 384
    pyspark: int = 0
    off_heap: int = 0
    resources: Mapping[str, int] = EMPTY_MAP


class DriverPhase(enum.Enum):
    """What the driver says of itself."""

    SILENT = "silent"
    """It has said nothing yet: its JVM starts."""
    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class TokenFailure:
    """Tokens of a service (Spark's name of it: "hadoopfs") that the driver cannot renew.

    Times in seconds since 1970, by the driver's clock; `expires_at`: when those end that are there, if known.
    """

    service: str
    since: int
    attempts: int
    expires_at: int | None = None


@dataclass(frozen=True, slots=True)
class DriverTarget:
    """What the driver wants: the state of docs/design/protocol.md as a value."""

    phase: DriverPhase = DriverPhase.SILENT
    session: str = ""
    revision: int = 0
    application_id: str = ""
    dynamic: bool = False
    executors: Mapping[int, int] = EMPTY_MAP
    """Executors wanted, per resource profile."""
    profiles: Mapping[int, Profile] = EMPTY_MAP
    registered: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    kills: frozenset[int] = frozenset()
    draining: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    host_tasks: Mapping[int, Mapping[str, int]] = EMPTY_MAP
    """Tasks that would be local on each host of data, per resource profile."""
    token_failures: tuple[TokenFailure, ...] = ()
    away: bool = False
    """Nothing has been heard of it for long: its JVM is dead, or hangs. What it wanted is old."""
    given_up: bool = False
    """It counts as stopped, as nothing was heard of it (where drivers come and go)."""
    gives_up_at: float | None = None
    """When it counts as stopped, if nothing is heard until then; None where it never does."""
    owner: str = ""
    """Who the driver says it is; "" when it does not. Anybody's text, one line of bounded length."""
    heard_at: float = math.inf
    """When it spoke last, whether or not it said something new."""
