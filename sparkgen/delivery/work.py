"""Limits of the work of one command: a few lines of a document or an ignore file can cause any amount."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SEEN = 1_000_000
"""The largest number of files and folders that the globs of all documents may search."""
MOST_CHECKS = 10_000_000
"""The largest number of comparisons of a path with a line of a `.sparkgenignore`: some seconds."""


class TooMuch(Exception):
    """A command would exceed its limits."""


@dataclass(slots=True)
class Work:
    """The rest of a command's limits."""

    seen: int = MOST_SEEN
    checks: int = MOST_CHECKS

    def see(self, number: int) -> None:
        """Count files and folders that a glob searches. Raises TooMuch when the limit is exceeded."""
        self.seen -= number
        if self.seen < 0:
            raise TooMuch

    def check(self, number: int) -> None:
        """Count comparisons of a path with lines. Raises TooMuch when the limit is exceeded."""
        self.checks -= number
        if self.checks < 0:
            raise TooMuch
