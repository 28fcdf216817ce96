"""Phrases that messages of all parts have in common."""

from __future__ import annotations

from collections.abc import Sequence


def some_of(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """Returns the first of many texts, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


def number_of(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
