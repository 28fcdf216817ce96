"""An ExecutorBackend in which the RPC secret is there before the first executor that needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, Notice, PodList, WatchEvent
from sparkgen.runtime.kubernetes.answers import Answer


class SecretFirstBackend:
    """Asks for the attempt's Secret before the first creation; each creation waits for it.

    That it cannot be had is an outcome like any other: it is told, and there is a pause before the next try.
    """

    def __init__(self, backend: ExecutorBackend, create_secret: Callable[[Create], ActionOutcome]) -> None:
        self._backend = backend
        self._create_secret = create_secret
        self._lock = threading.Lock()
        self._there = False

    def create(self, order: Create) -> ActionOutcome:
        """Create an executor, after the Secret."""
        with self._lock:
            if not self._there:
                outcome = self._create_secret(order)
                if outcome.answer is not Answer.DONE:
                    return outcome
                self._there = True
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
