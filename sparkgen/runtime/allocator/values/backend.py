"""Where executors run: a cluster, or this machine's processes, behind one protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete

Pod = Mapping[str, Any]
"""A pod as the API server writes it (core/v1), reduced or whole."""


@dataclass(frozen=True, slots=True)
class PodList:
    """A whole list of this attempt's executor pods, and the version (opaque) that a watch goes on from."""

    pods: tuple[Pod, ...]
    version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch: `kind` is ADDED, MODIFIED, DELETED or BOOKMARK; `version` is the pod's."""

    kind: str
    pod: Pod
    version: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a user must know; in a cluster an Event on the driver's pod.

    `reason` is one word in CamelCase, as Kubernetes has it; `hindrance` says it with a code of its own, which
    an Event has as an annotation; `warning` is the Event's type.
    """

    reason: str
    hindrance: Hindrance
    warning: bool = False


class WatchEnded(Exception):
    """A watch is over and the view may have a gap: list again, after `pause` seconds at least.

    `permanent`: it was refused in a way that no time will fix.
    """

    def __init__(self, reason: Hindrance, pause: float = 0.0, *, permanent: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.pause = pause
        self.permanent = permanent


class ExecutorBackend(Protocol):
    """Where executors are. Every method may be called from several threads."""

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor, and wait for the answer. Raises nothing: a fault is an Outcome."""
        ...

    def delete(self, order: Delete) -> ActionOutcome:
        """Delete an executor, and wait for the answer. Raises nothing."""
        ...

    def list(self) -> PodList:
        """All executors of this attempt. WatchEnded when that cannot be told now."""
        ...

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """What happens from `version` on, as it happens.

        Ends, or raises WatchEnded, when the view may have a gap.
        """
        ...

    def record_event(self, notice: Notice) -> bool:
        """Tell the user; raises nothing. False when it was not told, and another try may help."""
        ...

    def close(self) -> None:
        """Let every call that waits end soon."""
        ...
