"""When a watch that has ended is opened again, and when its end counts as a gap. Pure.

A watch goes on from the last version that it showed, so that a connection that breaks leaves no gap, as long
as it is open again within `PATIENCE`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.backend import WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes.answers import CallFailed

PATIENCE = 30.0
"""Seconds in which a watch must be open again; after them the view counts as one with a gap."""
LONGEST_WATCH_PAUSE = 10.0
AT_ONCE = 1.0
"""Seconds: a watch that its server ends earlier was none."""


@dataclass(frozen=True, slots=True)
class WatchRetry:
    """A watch over all its connections. Times in seconds of a monotonic clock.

    `version`: what it goes on from. `opened_at`: when it was opened last. `failed_at`: when it broke for the
    first time since it last showed something. `tries`: how often in a row it ended without showing anything.
    """

    version: str
    opened_at: float = 0.0
    failed_at: float | None = None
    tries: int = 0
    wait: float = 0.0
    """What the server asked for when it refused, in seconds."""

    def opening(self, now: float) -> WatchRetry:
        """It is opened now."""
        return replace(self, opened_at=now, wait=0.0)

    def heard(self, event: WatchEvent) -> WatchRetry:
        """It showed something."""
        return replace(self, version=event.version or self.version, failed_at=None, tries=0)

    def ended(self, now: float) -> WatchRetry:
        """Its server ended it, as it does every few minutes."""
        return replace(self, tries=self.tries + 1 if now - self.opened_at < AT_ONCE else 0)

    def broke(self, fault: CallFailed, now: float, reason: Hindrance) -> WatchRetry:
        """It broke, or could not be opened. WatchEnded with `reason` when that has been so for too long."""
        failed_at = self.failed_at
        if failed_at is None or now - self.opened_at > PATIENCE:  # it was open, and silent, meanwhile
            failed_at = now
        if now - failed_at > PATIENCE:
            raise WatchEnded(reason) from fault
        wait = min(fault.retry_after or 0.0, PATIENCE)
        return replace(self, failed_at=failed_at, tries=self.tries + 1, wait=wait)

    def pause(self, chance: float) -> float:
        """Seconds until it is opened again; `chance` (0 to 1) spreads them."""
        if not self.tries:
            return 0.0
        spread = min(LONGEST_WATCH_PAUSE, 0.25 * (1 << min(self.tries, 6))) * (0.5 + chance / 2)
        return max(spread, self.wait)
