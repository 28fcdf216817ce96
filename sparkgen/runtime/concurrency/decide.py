"""Decides whether a driver's pod may start, from the application's other pods and whose turn it is. Pure.

The application's `-concurrency` ConfigMap names the pod that runs. Only the API server's compare-and-swap
(`resourceVersion`) puts a pod there, so two pods can never start together, whatever their clocks say. A turn
never expires by time: it is over when its pod has ended or is gone. A pod on a node that is cut off counts
until it is gone.
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
        """The pod in the ConfigMap of turns: its name with its UID, because names are used again."""
        return f"{self.name}_{self.uid}"


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """Whose turn it is. `holder`: the pod's identity; `number`: how many pods have had their turn."""

    holder: str
    number: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What to do now.

    `go`: start, with this number. `take`: write oneself into the ConfigMap, with this number. Otherwise wait
    for the pods `ahead`, after ending the Jobs `ends` (name and UID), or one's own Job for a newer one.
    """

    go: int | None = None
    take: int | None = None
    ahead: tuple[str, ...] = ()
    ends: frozenset[tuple[str, str]] = frozenset()


def turn(own: DriverSeen, others: Iterable[DriverSeen], seen: TurnSeen, policy: str) -> Turn:
    """What the pod `own` does. `others`: the application's other pods that have not ended.

    They were listed after `seen` was read.

    A pod waits for pods that have started, and for those that queue and are earlier. So of all pods that
    queue, the first can always go on; one that cannot start its containers, such as a pod without a node,
    keeps nobody waiting. With `Replace`, it ends the Jobs of the pods that it waits for, but not its own.
    """
    if seen.holder == own.identity:
        return Turn(go=seen.number)
    ahead = [
        other
        for other in sorted(others, key=lambda one: one.place)
        if not other.waits or other.identity == seen.holder or (other.queues and other.place < own.place)
    ]
    if not ahead:
        return Turn(take=seen.number + 1)
    jobs = {one.job for one in ahead} - {own.job, ("", "")} if policy == REPLACE else set()
    return Turn(ahead=tuple(one.name for one in ahead), ends=frozenset(jobs))
