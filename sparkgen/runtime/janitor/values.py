"""The values of the janitor: contents of the disk, the cluster's answers, memory and decisions.

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
    """The owner of a sub-directory: a driver's pod."""

    namespace: str
    uid: str

    @property
    def folder(self) -> str:
        """The sub-directory's name (allocator.attempt.Attempt.shuffle_folder)."""
        return f"{self.namespace}_{self.uid}"


def owner_of(folder: str) -> Owner | None:
    """The owner of the sub-directory with this name; None if it does not belong to an application."""
    found = _NAME.fullmatch(folder)
    return Owner(found["namespace"], found["uid"]) if found else None


@dataclass(frozen=True, slots=True, order=True)
class Trash:
    """A tree that is being removed: a name in one of the service's directories. The name is untrusted."""

    directory: str
    name: str


@dataclass(frozen=True, slots=True)
class DiskContents:
    """The contents of the service's directories."""

    owners: frozenset[Owner] = frozenset()
    trash: tuple[Trash, ...] = ()
    faults: tuple[str, ...] = ()
    """Why some of the directories could not be read."""
    crowded: bool = False
    """There are more sub-directories than are handled at once."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """The sub-directories marked for removal. `fault`: why another one of the application stays."""

    trash: tuple[Trash, ...] = ()
    fault: str = ""


class DriversAnswer(enum.Enum):
    """The quality of a list of a namespace's drivers."""

    WHOLE = "whole"
    DENIED = "denied"
    """The janitor may not list there: the application's RoleBinding is gone, or does not exist yet."""
    UNKNOWN = "unknown"
    """No answer, an error, or a part of a list: nothing may be concluded."""


@dataclass(frozen=True, slots=True)
class Drivers:
    """The drivers of one namespace. `running`: UIDs of driver pods that have not ended (if WHOLE)."""

    answer: DriversAnswer
    running: frozenset[str] = frozenset()
    why: str = ""


@dataclass(frozen=True, slots=True)
class JanitorView:
    """All facts of one round. The drivers were listed after the directories were read."""

    owners: frozenset[Owner] = frozenset()
    held: frozenset[Owner] = frozenset()
    """Owners whose sub-directory an executor on this node has locked."""
    drivers: Mapping[str, Drivers] = field(default_factory=dict)
    """The lists by namespace; a missing one is unknown."""
    used: float = 0.0
    """The used share (0 to 1) of the fullest of the service's file systems."""


@dataclass(frozen=True, slots=True)
class JanitorSettings:
    """How long the janitor waits; times in seconds."""

    interval: float = 30.0
    grace: float = 300.0
    """From when an application was first seen as finished."""
    without_access: float = 86_400.0
    """From the first of several refusals in a row to list its namespace; 0: forever."""
    pressure: float = 0.85
    """The used share above which finished applications are removed at once."""
    dry_run: bool = False


class OwnerState(enum.Enum):
    """The state of an application's sub-directory; each is in exactly one."""

    RUNNING = "running"
    FINISHED = "finished"
    DENIED = "denied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JanitorMemory:
    """What is remembered between rounds. All of it may be lost, which only delays removals."""

    finished: Mapping[Owner, float] = field(default_factory=dict)
    """Since when applications have been finished."""
    denied: Mapping[Owner, float] = field(default_factory=dict)
    """Since when the lists of their namespaces have only been refused."""


@dataclass(frozen=True, slots=True)
class OwnerRemoval:
    """Remove this sub-directory. `pressed`: only if the disk is still as full."""

    owner: Owner
    why: str
    pressed: bool = False


@dataclass(frozen=True, slots=True)
class JanitorDecision:
    """What to remove, in this order; what to remember; and the state of each sub-directory."""

    memory: JanitorMemory
    removals: tuple[OwnerRemoval, ...] = ()
    states: Mapping[Owner, OwnerState] = field(default_factory=dict)
