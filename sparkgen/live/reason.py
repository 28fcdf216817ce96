"""Why a run is stuck, as a value: a code, the cause in words, and the next step."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DETAIL = 300
"""The largest number of characters of another program's message in a reason."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason. `code`: a short text for programs, which never changes; `next_step`: "" if there is none."""

    code: str
    cause: str
    next_step: str = ""

    @property
    def text(self) -> str:
        """Cause and next step as one line."""
        return f"{self.cause}: {self.next_step}" if self.next_step else self.cause


def detail(text: str, limit: int = MAX_DETAIL) -> str:
    """Returns another program's message as part of a line: at most about `limit` characters, no full stop."""
    flat = " ".join(text.split()).rstrip(".")
    if len(flat) <= limit:
        return flat
    half = limit // 2  # errors wrap each other: what and why are at the two ends
    return f"{flat[:half].rstrip()} ... {flat[-half:].lstrip()}"
