"""Continues removals, each for a share of the time, so that none holds up the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sparkgen.runtime.janitor.removal import RemovalOutcome, Removed
from sparkgen.runtime.janitor.values import OwnerRemoval, Trash

SHARE = 0.2
"""The least seconds for a removal in its turn."""
RETRY = 300.0
"""Seconds after which a stuck removal is tried again."""


@dataclass(slots=True)
class PendingRemoval:
    """A removal that has begun. `removal` None: an earlier process began it. Times by the janitor's clock."""

    since: float
    removal: OwnerRemoval | None = None
    tried_at: float | None = None
    stuck: Removed | None = None

    def is_due(self, now: float) -> bool:
        """Whether to continue it now."""
        return self.stuck is None or self.tried_at is None or now - self.tried_at >= RETRY


class Sweeper:
    """All removals that have begun. `remove` continues one until the given function returns True."""

    def __init__(
        self,
        remove: Callable[[Trash, Callable[[], bool]], Removed],
        clock: Callable[[], float],
        gone: Callable[[Trash, PendingRemoval], None],
        stuck: Callable[[Trash, Removed], None],
    ) -> None:
        self._remove = remove
        self._clock = clock
        self._gone = gone
        self._stuck = stuck
        self._entries: dict[Trash, PendingRemoval] = {}

    @property
    def stuck(self) -> tuple[tuple[Trash, PendingRemoval], ...]:
        """The removals that are stuck."""
        return tuple((trash, entry) for trash, entry in sorted(self._entries.items()) if entry.stuck)

    def begin(self, trash: Trash, removal: OwnerRemoval | None = None) -> None:
        """Add a removal that has begun, if it is not known yet."""
        if trash not in self._entries:
            self._entries[trash] = PendingRemoval(self._clock(), removal)

    def forget_others(self, there: Iterable[Trash]) -> None:
        """Forget removals that somebody else has finished."""
        kept = set(there)
        self._entries = {trash: entry for trash, entry in self._entries.items() if trash in kept}

    def sweep(self, deadline: float) -> bool:
        """Continue all removals, those that waited longest first. Returns whether some need more time."""
        due = [trash for trash, entry in self._entries.items() if entry.is_due(self._clock())]
        due.sort(key=lambda trash: self._entries[trash].tried_at or 0.0)
        while due and self._clock() < deadline:
            waiting = []
            for number, trash in enumerate(due):
                now = self._clock()
                if now >= deadline:
                    waiting += due[number:]
                    break
                share = max(SHARE, (deadline - now) / (len(due) - number))
                if self.go_on(trash, min(deadline, now + share)) is RemovalOutcome.UNFINISHED:
                    waiting.append(trash)
            due = waiting
        return bool(due)

    def go_on(self, trash: Trash, deadline: float) -> RemovalOutcome:
        """Continue one removal; an error in it does not affect the others."""
        entry = self._entries[trash]
        try:
            removed = self._remove(trash, lambda: self._clock() >= deadline)
        except Exception as error:  # noqa: BLE001 - the others must continue
            removed = Removed(RemovalOutcome.STUCK, f"{type(error).__name__}: {error}", 1)
        entry.tried_at = self._clock()
        entry.stuck = removed if removed.outcome is RemovalOutcome.STUCK else None
        if removed.outcome is RemovalOutcome.GONE:
            del self._entries[trash]
            if entry.removal is None or all(
                entry.removal is not other.removal for other in self._entries.values()
            ):
                self._gone(trash, entry)
        elif entry.stuck:
            self._stuck(trash, removed)
        return removed.outcome
