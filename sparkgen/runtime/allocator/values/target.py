"""What the driver wants: the state of docs/design/protocol.md as a value."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP

LONGEST_DELIVERY = 10.0
"""Seconds that a report of the driver may take to arrive: it may be older than its arrival by this much."""


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
    """The driver's phase, from its reports."""

    SILENT = "silent"
    """It has not reported yet: its JVM is starting."""
    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class TokenFailure:
    """Tokens of a service (by Spark's name, such as "hadoopfs") that the driver cannot renew.

    Times in seconds since 1970, by the driver's clock. `expires_at`: when the current tokens expire, if
    known.
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
    """It has not reported for long: its JVM is dead, or hangs. Its target is outdated."""
    given_up: bool = False
    """It counts as stopped, because it did not report for long (if drivers come and go)."""
    gives_up_at: float | None = None
    """When it counts as stopped if it does not report before; None: never."""
    owner: str = ""
    """The driver's own statement of who owns it; "" if none. Untrusted text, one line of bounded length."""
    heard_at: float = math.inf
    """When it last reported, even if the report had nothing new."""
