"""A World in which the RPC secret is there before the first executor that needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from sparkgen.runtime.allocator.values.actions import Create, Delete, Outcome
from sparkgen.runtime.allocator.values.world import Event, Listing, Notice, World
from sparkgen.runtime.kubernetes.answers import Answer


class SecretFirst:
    """Asks for the attempt's Secret before the first creation; each creation waits for it.

    That it cannot be had is an outcome like any other: it is told, and there is a pause before the next try.
    """

    def __init__(self, world: World, create_secret: Callable[[Create], Outcome]) -> None:
        self._world = world
        self._create_secret = create_secret
        self._lock = threading.Lock()
        self._there = False

    def create(self, order: Create) -> Outcome:
        """Create an executor, after the Secret."""
        with self._lock:
            if not self._there:
                outcome = self._create_secret(order)
                if outcome.answer is not Answer.DONE:
                    return outcome
                self._there = True
        return self._world.create(order)

    def delete(self, order: Delete) -> Outcome:
        """Delete an executor."""
        return self._world.delete(order)

    def list(self) -> Listing:
        """All executors of this attempt."""
        return self._world.list()

    def watch(self, version: str) -> Iterator[Event]:
        """What happens from `version` on."""
        return self._world.watch(version)

    def tell(self, notice: Notice) -> bool:
        """Tell the user; False when another try may help."""
        return self._world.tell(notice)

    def close(self) -> None:
        """Let every call that waits end soon."""
        self._world.close()
