"""Why a run is stuck, as a value: a code, the cause in words, and the next step."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DETAIL = 300
"""Characters of somebody else's message that are passed on."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why. `code`: a short text that stays the same, for machines; `next_step`: "" where there is none."""

    code: str
    cause: str
    next_step: str = ""

    @property
    def text(self) -> str:
        """Both as one line."""
        return f"{self.cause}: {self.next_step}" if self.next_step else self.cause


def detail(text: str, limit: int = MAX_DETAIL) -> str:
    """Somebody else's message as part of a line: one line of bounded length, without a full stop."""
    flat = " ".join(text.split()).rstrip(".")
    if len(flat) <= limit:
        return flat
    half = limit // 2  # errors wrap each other: what and why are at the two ends
    return f"{flat[:half].rstrip()} ... {flat[-half:].lstrip()}"
