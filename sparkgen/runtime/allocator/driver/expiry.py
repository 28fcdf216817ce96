"""Whether a run may still start: checked by `install`, or by the allocator if there is no `install`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from sparkgen.codes import Code
from sparkgen.runtime.allocator.driver.tuning import BadTuning, read
from sparkgen.runtime.exits import Refused


def why_expired(tuning: Path, now: datetime) -> Refused | None:
    """Why the run may not start; None if it may. Raises Refused if the tuning cannot be used."""
    try:
        expires_at = read(tuning).expires_at
    except BadTuning as error:
        raise Refused(f"{tuning} is invalid: {error}") from None
    if expires_at is None or expires_at > now:
        return None
    return Refused(
        f"this run expired at {_text(expires_at)}, so it does not start (the time is now {_text(now)})",
        "change spec.run.expiresAt (or spec.run.id, for a new run), and render the document again",
        Code.RUN_EXPIRED,
    )


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
