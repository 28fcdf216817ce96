"""When to reopen a watch that has ended, and when its end counts as a gap. Pure.

A watch continues from the last version that it showed. So a broken connection leaves no gap if the watch is
open again within `PATIENCE`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.backend import WatchEnded, WatchEvent
from sparkgen.runtime.kubernetes.answers import CallFailed

PATIENCE = 30.0
"""Seconds within which a watch must be open again; after them, the view has a gap."""
LONGEST_WATCH_PAUSE = 10.0
AT_ONCE = 1.0
"""Seconds: a watch that its server ends sooner counts as a failed try."""


@dataclass(frozen=True, slots=True)
class WatchRetry:
    """The state of a watch across its connections. Times in seconds of a monotonic clock.

    `version`: where it continues. `opened_at`: when it was last opened. `failed_at`: when it first broke
    after it last showed an event. `tries`: how often in a row it ended without showing an event.
    """

    version: str
    opened_at: float = 0.0
    failed_at: float | None = None
    tries: int = 0
    wait: float = 0.0
    """The pause that the server asked for when it refused, in seconds."""

    def opening(self, now: float) -> WatchRetry:
        """Returns the state after opening the watch at `now`."""
        return replace(self, opened_at=now, wait=0.0)

    def heard(self, event: WatchEvent) -> WatchRetry:
        """Returns the state after an event."""
        return replace(self, version=event.version or self.version, failed_at=None, tries=0)

    def ended(self, now: float) -> WatchRetry:
        """Returns the state after the server has ended the watch, as it does every few minutes."""
        return replace(self, tries=self.tries + 1 if now - self.opened_at < AT_ONCE else 0)

    def broke(self, fault: CallFailed, now: float, reason: Hindrance) -> WatchRetry:
        """Returns the state after a failure. Raises WatchEnded with `reason` if it lasts too long."""
        failed_at = self.failed_at
        if failed_at is None or now - self.opened_at > PATIENCE:  # since then it was open, without events
            failed_at = now
        if now - failed_at > PATIENCE:
            raise WatchEnded(reason) from fault
        wait = min(fault.retry_after or 0.0, PATIENCE)
        return replace(self, failed_at=failed_at, tries=self.tries + 1, wait=wait)

    def pause(self, chance: float) -> float:
        """Seconds until the watch is reopened; `chance` (0 to 1) varies them."""
        if not self.tries:
            return 0.0
        spread = min(LONGEST_WATCH_PAUSE, 0.25 * (1 << min(self.tries, 6))) * (0.5 + chance / 2)
        return max(spread, self.wait)
