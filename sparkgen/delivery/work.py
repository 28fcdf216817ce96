"""How much one command looks at: a few lines of a document or of an ignore file may ask for any amount."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SEEN = 1_000_000
"""Files and folders that the globs of all documents may go through."""
MOST_CHECKS = 10_000_000
"""Comparisons of a path with a line of a `.sparkgenignore`: some seconds."""


class TooMuch(Exception):
    """More than a command may do."""


@dataclass(slots=True)
class Work:
    """What is left of it."""

    seen: int = MOST_SEEN
    checks: int = MOST_CHECKS

    def see(self, number: int) -> None:
        """Count files and folders that a glob goes through. TooMuch after the last one."""
        self.seen -= number
        if self.seen < 0:
            raise TooMuch

    def check(self, number: int) -> None:
        """Count comparisons of a path with lines. TooMuch after the last one."""
        self.checks -= number
        if self.checks < 0:
            raise TooMuch
