"""The values of the janitor: what is on the disk, what the cluster says, what is remembered and decided.

All are frozen. Times are seconds of one monotonic clock of this process (`now`).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NAME = re.compile(r"(?P<namespace>[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)_(?P<uid>[A-Za-z0-9-]{1,64})")


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """Whose sub-directory it is: a driver's pod."""

    namespace: str
    uid: str

    @property
    def folder(self) -> str:
        """The sub-directory's name (allocator.attempt.Attempt.shuffle_folder)."""
        return f"{self.namespace}_{self.uid}"


def owner_of(folder: str) -> Owner | None:
    """Whose sub-directory has this name; None for what is no application's."""
    found = _NAME.fullmatch(folder)
    return Owner(found["namespace"], found["uid"]) if found else None


@dataclass(frozen=True, slots=True, order=True)
class Trash:
    """What is being removed: a name in one of the service's directories. Others may have chosen the name."""

    directory: str
    name: str


@dataclass(frozen=True, slots=True)
class DiskContents:
    """What is in the service's directories."""

    owners: frozenset[Owner] = frozenset()
    trash: tuple[Trash, ...] = ()
    faults: tuple[str, ...] = ()
    """Why some of the directories could not be read."""
    crowded: bool = False
    """There are more sub-directories than are looked after at once."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """Sub-directories that are to be removed now. `fault`: why another one of the application stays."""

    trash: tuple[Trash, ...] = ()
    fault: str = ""


class DriversAnswer(enum.Enum):
    """What a list of a namespace's drivers is worth."""

    WHOLE = "whole"
    DENIED = "denied"
    """The janitor may not list there: the application's RoleBinding is gone, or not there yet."""
    UNKNOWN = "unknown"
    """No answer, an error, or a part of a list: nothing may be concluded."""


@dataclass(frozen=True, slots=True)
class Drivers:
    """What the cluster says of one namespace. `running`: UIDs of driver pods that have not ended (WHOLE)."""

    answer: DriversAnswer
    running: frozenset[str] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class JanitorView:
    """All that one round sees. The lists were asked for after the directories were read."""

    owners: frozenset[Owner] = frozenset()
    held: frozenset[Owner] = frozenset()
    """Whose sub-directory an executor on this node has open."""
    drivers: Mapping[str, Drivers] = field(default_factory=dict)
    """Per namespace; one that is missing is unknown."""
    used: float = 0.0
    """The used share (0 to 1) of the fullest of the service's file systems."""


@dataclass(frozen=True, slots=True)
class JanitorSettings:
    """How patient it is; times in seconds."""

    interval: float = 30.0
    grace: float = 300.0
    """From when an application was first seen to be over."""
    without_access: float = 86_400.0
    """From the first of a row of refusals to list its namespace; 0: forever."""
    pressure: float = 0.85
    """The used share above which applications that are over go at once."""
    dry_run: bool = False


class OwnerState(enum.Enum):
    """What is thought of an application's sub-directory; each is in exactly one of these sets."""

    RUNNING = "running"
    FINISHED = "finished"
    DENIED = "denied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JanitorMemory:
    """What is remembered between rounds; all of it can be lost, which only makes the janitor later."""

    finished: Mapping[Owner, float] = field(default_factory=dict)
    """Since when applications have been over."""
    denied: Mapping[Owner, float] = field(default_factory=dict)
    """Since when nothing but refusals was heard of them."""


@dataclass(frozen=True, slots=True)
class OwnerRemoval:
    """Remove this sub-directory. `pressed`: only as long as the disk is as full as it was."""

    owner: Owner
    why: str
    pressed: bool = False


@dataclass(frozen=True, slots=True)
class JanitorDecision:
    """What to remove, in this order; what to remember; and what each sub-directory is."""

    memory: JanitorMemory
    removals: tuple[OwnerRemoval, ...] = ()
    states: Mapping[Owner, OwnerState] = field(default_factory=dict)
