"""Decides whether a driver's pod may start, from the application's other pods and its Lease. Pure.

Whoever is in the Lease runs. Only the API server's compare-and-swap (`resourceVersion`) puts a pod there, so
two pods can never start together, whatever their clocks say. The Lease never expires by time: its holder is
over when its pod has ended or is gone. A pod on a node that is cut off counts until it is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

REPLACE = "Replace"


@dataclass(frozen=True, slots=True)
class DriverSeen:
    """A driver's pod that has not ended.

    `created`: as the API server writes times, in whole seconds; `job`: name and UID of its Job, empty without
    one. `waits`: whether its own container of this kind has not ended yet; one without such a container never
    waits. `queues`: whether that container runs, so that the pod can take its turn.
    """

    name: str
    uid: str
    created: str
    job: tuple[str, str] = ("", "")
    waits: bool = False
    queues: bool = False

    @property
    def place(self) -> tuple[str, str]:
        """The pod's place in the order: earlier pods first."""
        return self.created, self.uid

    @property
    def identity(self) -> str:
        """What stands in the Lease if this pod holds it."""
        return f"{self.name}_{self.uid}"


@dataclass(frozen=True, slots=True)
class LeaseSeen:
    """The application's Lease. `number`: how often it has changed its holder (`leaseTransitions`)."""

    holder: str
    number: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What to do now.

    `go`: start, with this number. `take`: write oneself into the Lease, with this number. Otherwise wait for
    the pods `ahead`, after ending the Jobs `ends` (name and UID), or one's own Job for a newer one of them.
    """

    go: int | None = None
    take: int | None = None
    ahead: tuple[str, ...] = ()
    ends: frozenset[tuple[str, str]] = frozenset()


def turn(own: DriverSeen, others: Iterable[DriverSeen], lease: LeaseSeen, policy: str) -> Turn:
    """What the pod `own` does. `others`: the application's other pods that have not ended.

    They were listed after `lease` was read.

    A pod waits for pods that have started, and for those that queue and are earlier. So of all pods that
    queue, the first can always go on; one that cannot start its containers, such as a pod without a node,
    keeps nobody waiting. With `Replace`, it ends the Jobs of the pods that it waits for, but not its own.
    """
    if lease.holder == own.identity:
        return Turn(go=lease.number)
    ahead = [
        other
        for other in sorted(others, key=lambda one: one.place)
        if not other.waits or other.identity == lease.holder or (other.queues and other.place < own.place)
    ]
    if not ahead:
        return Turn(take=lease.number + 1)
    jobs = {one.job for one in ahead} - {own.job, ("", "")} if policy == REPLACE else set()
    return Turn(ahead=tuple(one.name for one in ahead), ends=frozenset(jobs))
