"""An ExecutorBackend in which what executors need is there before the first of them: Secret, PodGroup."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, Notice, PodList, WatchEvent
from sparkgen.runtime.kubernetes.answers import Answer

Prerequisite = Callable[[Create], ActionOutcome]
"""Makes an object, if it is not there yet: DONE, or why not."""


class PrerequisitesBackend:
    """Asks for what executors need before the first creation; each creation waits for it.

    That it cannot be had is an outcome like any other: it is told, and there is a pause before the next try.
    """

    def __init__(self, backend: ExecutorBackend, prerequisites: Sequence[Prerequisite]) -> None:
        self._backend = backend
        self._lock = threading.Lock()
        self._missing = list(prerequisites)

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor, after what it needs."""
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
        """What happens from `version` on."""
        return self._backend.watch(version)

    def record_event(self, notice: Notice) -> bool:
        """Tell the user; False when another try may help."""
        return self._backend.record_event(notice)

    def close(self) -> None:
        """Let every call that waits end soon."""
        self._backend.close()
