"""Drivers that come and go at one allocator: who may come, who is gone, and when all is over. Pure.

docs/design/client-mode.md has the rules and their reasons. A session is one SparkContext.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sparkgen import contract
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

SILENCE = 60.0
"""Seconds without a word after which a driver, or the command of a session, counts as gone."""
START_WAIT = 300.0
"""Seconds after which a session ends that nobody has come for."""
DRIVER_PATIENCE = "90s"
"""After how long a driver gives up an allocator that it cannot reach, as Spark writes durations: more than
`SILENCE`, so that the driver is never the first."""


class SessionMode(enum.Enum):
    """Where the drivers are that come and go (contract.ENV_SESSIONS)."""

    CLIENT = contract.SESSIONS_CLIENT
    NOTEBOOK = contract.SESSIONS_NOTEBOOK


class SessionTaken(Exception):
    """Another driver has the place. The text says who, for how long, and what to do."""


class SessionAwaited(Exception):
    """The driver from before a restart of the allocator may speak at any moment."""

    def __init__(self) -> None:
        super().__init__(
            "the driver that was connected before the allocator restarted may come back; try again"
        )


def no_sockets() -> frozenset[str]:
    """Nothing is known of who listens."""
    return frozenset()


def ignore_refused(_: DriverTarget) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How the mailbox treats drivers that come and go."""

    resumed: str = ""
    """The session that an allocator before this process noted; "" when there was none."""
    sockets: Callable[[], frozenset[str]] = no_sockets
    """The sockets that listen at the driver's port now; none where nobody can see."""
    refused: Callable[[DriverTarget], None] = ignore_refused
    """Called with what a driver said that was refused."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """The driver that has spoken last. Times in seconds of the allocator's clock."""

    target: DriverTarget
    since: float
    """When it spoke first."""
    heard_at: float
    sockets: frozenset[str] = frozenset()
    """Who listened at the driver's port when it spoke first; none where nobody could see."""


def has_place(occupant: Occupant, now: float, sockets: Callable[[], frozenset[str]]) -> bool:
    """Whether a driver keeps everybody else out: it runs, was heard, and is not seen to be dead.

    A driver is seen to be dead when no socket listens any more that did when it came. That its port is taken
    says nothing: the next driver takes it before it speaks.
    """
    if occupant.target.phase is not DriverPhase.RUNNING or now - occupant.heard_at > SILENCE:
        return False
    return not occupant.sockets or bool(occupant.sockets & sockets())


def taken(occupant: Occupant, now: float) -> str:
    """What a driver is told that comes while another one has the place."""
    owner = occupant.target.owner or occupant.target.application_id
    return (
        f"another driver has been using this session: {owner}, for {_duration(now - occupant.since)}. A "
        "session has one driver at a time: stop that one first (spark.stop(), or end its process). A driver "
        f"that is silent for {SILENCE:g} s counts as stopped"
    )


def as_seen(target: DriverTarget, heard_at: float, now: float, *, resumed: bool) -> DriverTarget:
    """What the last state of a driver means at `now`, where drivers come and go.

    Without a driver no executor is wanted. After a restart (`resumed`) one may speak again, and `heard_at` is
    when the process began.
    """
    silent = now - heard_at > SILENCE
    if target.phase is DriverPhase.RUNNING and silent:
        return replace(target, phase=DriverPhase.STOPPED, given_up=True)
    if target.phase is DriverPhase.SILENT and (silent or not resumed):
        return replace(target, phase=DriverPhase.STOPPED, given_up=resumed)
    # A moment later: what is added to a time and taken from it again may be less.
    return target if silent else replace(target, gives_up_at=heard_at + SILENCE + 0.001)


def why_over(began: float, heard: Sequence[float | None], now: float, *, resumed: bool) -> str:
    """Why a session in client mode is over; "" while it is not.

    `heard`: when the command and the driver spoke last, None for who has not. Nobody is missed from the start
    of a process on: an allocator that restarts (`resumed`) waits for both once more.
    """
    words = [time for time in heard if time is not None]
    if not words and not resumed:
        return f"nothing connected within {START_WAIT / 60:g} min" if now - began > START_WAIT else ""
    last = max([began, *words])
    return f"neither the command nor a driver sent anything for {SILENCE:g} s" if now - last > SILENCE else ""


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
