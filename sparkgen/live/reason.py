"""Why a run is stuck, as a value: a code, the cause in words, and the next step."""

from __future__ import annotations

from dataclasses import dataclass

MAX_DETAIL = 300
"""The largest number of characters of another program's message in a reason."""

MAX_SHOWN = 1_000
"""The largest number of characters of a reason in a table or a message."""
MAX_DATA = 10_000
"""The largest number of characters of a cause, and of a next step, in JSON and YAML."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason. `code`: a short text for programs, which never changes; `next_step`: "" if there is none."""

    code: str
    cause: str
    next_step: str = ""

    @property
    def text(self) -> str:
        """Cause and next step as one line, at most about MAX_SHOWN characters."""
        return bounded(f"{self.cause}: {self.next_step}" if self.next_step else self.cause, MAX_SHOWN)


def detail(text: str, limit: int = MAX_DETAIL) -> str:
    """Returns another program's message as part of a line: at most about `limit` characters, no full stop."""
    return bounded(" ".join(text.split()).rstrip("."), limit)


def bounded(text: str, limit: int) -> str:
    """Returns a text of at most about `limit` characters: without its middle if it is longer."""
    if len(text) <= limit:
        return text
    half = limit // 2  # errors wrap each other: what and why are at the two ends
    return f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"
