"""An ExecutorBackend that creates what executors need (Secret, PodGroup) before the first executor."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, Notice, PodList, WatchEvent
from sparkgen.runtime.kubernetes.answers import Answer

Prerequisite = Callable[[Create], ActionOutcome]
"""Creates an object, if it does not exist yet. DONE, or the outcome for the executor that needs it."""


class PrerequisitesBackend:
    """Creates what executors need before the first executor; each creation waits for that.

    If that fails, the creation of the executor fails with its outcome: it is reported, and repeated after a
    pause.
    """

    def __init__(self, backend: ExecutorBackend, prerequisites: Sequence[Prerequisite]) -> None:
        self._backend = backend
        self._lock = threading.Lock()
        self._missing = list(prerequisites)

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor, after the objects that it needs."""
        with self._lock:
            while self._missing:
                outcome = self._missing[0](order)
                if outcome.answer is not Answer.DONE:
                    return outcome
                del self._missing[0]
        return self._backend.create(order)

    def delete(self, order: Delete) -> ActionOutcome:
        """Delete an executor."""
        return self._backend.delete(order)

    def list(self) -> PodList:
        """All executors of this attempt."""
        return self._backend.list()

    def watch(self, version: str) -> Iterator[WatchEvent]:
        """The changes after `version`."""
        return self._backend.watch(version)

    def record_event(self, notice: Notice) -> bool:
        """Record an Event for the user. False if a retry may help."""
        return self._backend.record_event(notice)

    def close(self) -> None:
        """Make all waiting calls end soon."""
        self._backend.close()
