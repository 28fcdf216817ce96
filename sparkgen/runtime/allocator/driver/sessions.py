"""Rules for drivers that come and go at one allocator: who may connect, who is gone, when it is over. Pure.

docs/design/client-mode.md has the rules and their reasons. A session is one SparkContext.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sparkgen import contract
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

SILENCE = 60.0
"""Seconds without a report after which a driver, or the command of a session, counts as gone."""
START_WAIT = 300.0
"""Seconds after which a session ends that nobody has connected to."""
DRIVER_PATIENCE = "90s"
"""After how long a driver gives up an allocator that it cannot reach, as a duration of Spark: more than
`SILENCE`, so that the driver is never the first to give up."""


class SessionMode(enum.Enum):
    """Where the drivers of a session run (contract.ENV_SESSIONS)."""

    CLIENT = contract.SESSIONS_CLIENT
    NOTEBOOK = contract.SESSIONS_NOTEBOOK


class SessionTaken(Exception):
    """Another driver is connected. The text says which one, for how long, and what to do."""


class SessionAwaited(Exception):
    """The driver that was connected before the allocator restarted may report again at any moment."""

    def __init__(self) -> None:
        super().__init__(
            "the driver that was connected before the allocator restarted may come back; try again"
        )


def no_sockets() -> frozenset[str]:
    """Returns no sockets, for when it is unknown who listens."""
    return frozenset()


def ignore_refused(_: DriverTarget) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class SessionRules:
    """How the mailbox treats drivers that come and go."""

    resumed: str = ""
    """The session that an earlier process of this allocator noted; "" if there was none."""
    sockets: Callable[[], frozenset[str]] = no_sockets
    """The sockets that listen at the driver's port now; none if that cannot be seen."""
    refused: Callable[[DriverTarget], None] = ignore_refused
    """Called with the state of a driver that was refused."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """The driver that reported last. Times in seconds of the allocator's clock."""

    target: DriverTarget
    since: float
    """When it first reported."""
    heard_at: float
    sockets: frozenset[str] = frozenset()
    """The sockets at the driver's port when it first reported; none if they could not be seen."""


def has_place(occupant: Occupant, now: float, sockets: Callable[[], frozenset[str]]) -> bool:
    """Whether a driver keeps others from connecting: it runs, reported lately, and is not known to be dead.

    A driver is known to be dead when none of the sockets listens any more that listened when it first
    reported. That its port is in use proves nothing: the next driver opens the port before it reports.
    """
    if occupant.target.phase is not DriverPhase.RUNNING or now - occupant.heard_at > SILENCE:
        return False
    return not occupant.sockets or bool(occupant.sockets & sockets())


def taken(occupant: Occupant, now: float) -> str:
    """The message to a driver that connects while another one has the place."""
    owner = occupant.target.owner or occupant.target.application_id
    return (
        f"another driver has been using this session: {owner}, for {_duration(now - occupant.since)}. A "
        "session has one driver at a time: stop that one first (spark.stop(), or end its process). A driver "
        f"that is silent for {SILENCE:g} s counts as stopped"
    )


def as_seen(target: DriverTarget, heard_at: float, now: float, *, resumed: bool) -> DriverTarget:
    """What the last state of a driver means at `now`, if drivers come and go.

    Without a driver, no executor is wanted. After a restart (`resumed`), a driver may report again, and
    `heard_at` is when this process began.
    """
    silent = now - heard_at > SILENCE
    if target.phase is DriverPhase.RUNNING and silent:
        return replace(target, phase=DriverPhase.STOPPED, given_up=True)
    if target.phase is DriverPhase.SILENT and (silent or not resumed):
        return replace(target, phase=DriverPhase.STOPPED, given_up=resumed)
    # A millisecond later, because (heard_at + SILENCE) - heard_at may be less than SILENCE after rounding.
    return target if silent else replace(target, gives_up_at=heard_at + SILENCE + 0.001)


def why_over(began: float, heard: Sequence[float | None], now: float, *, resumed: bool) -> str:
    """Why a session in client mode is over; "" if it is not.

    `heard`: when the command and the driver last sent something, None for never. The time of silence counts
    from the start of this process at the earliest: a restarted allocator (`resumed`) waits for both once
    more.
    """
    words = [time for time in heard if time is not None]
    if not words and not resumed:
        return f"nothing connected within {START_WAIT / 60:g} min" if now - began > START_WAIT else ""
    last = max([began, *words])
    return f"neither the command nor a driver sent anything for {SILENCE:g} s" if now - last > SILENCE else ""


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
