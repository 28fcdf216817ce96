"""The protocol of a backend, which runs executors: as pods of a cluster, or as processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete

Pod = Mapping[str, Any]
"""A pod as the API server writes it (core/v1), whole or reduced to the fields that the allocator reads."""


@dataclass(frozen=True, slots=True)
class PodList:
    """All executor pods of this attempt, and the (opaque) version at which a watch continues."""

    pods: tuple[Pod, ...]
    version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watch: `kind` is ADDED, MODIFIED, DELETED or BOOKMARK; `version` is that of the pod."""

    kind: str
    pod: Pod
    version: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a user must know; in a cluster, it becomes an Event on the driver's pod.

    `reason` is one word in CamelCase, as in Kubernetes. `hindrance` has the message and our code, which the
    Event gets as an annotation. `warning` decides the Event's type (Warning or Normal).
    """

    reason: str
    hindrance: Hindrance
    warning: bool = False


class WatchEnded(Exception):
    """A watch has ended, and changes may have been missed: list again, after at least `pause` seconds.

    `permanent`: the server refused it, and would refuse it again later.
    """

    def __init__(self, reason: Hindrance, pause: float = 0.0, *, permanent: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.pause = pause
        self.permanent = permanent


class ExecutorBackend(Protocol):
    """Runs executors. Every method may be called from several threads."""

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor, and wait for the answer. Never raises: a fault is an ActionOutcome."""
        ...

    def delete(self, order: Delete) -> ActionOutcome:
        """Delete an executor, and wait for the answer. Never raises: a fault is an ActionOutcome."""
        ...

    def list(self) -> PodList:
        """All executors of this attempt. Raises WatchEnded if they cannot be listed now."""
        ...

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """The changes after `version`, as they happen.

        Ends, or raises WatchEnded, when changes may have been missed.
        """
        ...

    def record_event(self, notice: Notice) -> bool:
        """Record an Event for the user; never raises. False if that failed, and a retry may succeed."""
        ...

    def close(self) -> None:
        """Make all waiting calls end soon."""
        ...
