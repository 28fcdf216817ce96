"""Unified diffs and similar names, as difflib finds them, with work that grows only as the texts do.

difflib compares each line with all equal lines, again and again: a text that somebody wrote to this end would
keep it busy for hours.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

_STEPS_A_LINE = 1_000
_MOST_STEPS = 20_000_000
"""The most steps of a comparison: for each line, and for all lines. Ordinary changes take some ten a line."""
_CONTEXT = 3
LONGEST_NAME = 100
"""The most characters of a name that a similar one is searched for."""
MOST_NAMES = 1_000
"""The most names that are compared with one: all Spark properties of a section, all cities of an area."""


class _TooMuch(Exception):
    """A comparison would take too many steps."""


class _Matcher(difflib.SequenceMatcher[str]):
    """A comparison that gives up."""

    b2j: dict[str, list[int]]
    """The places of each line in the new text, without lines that are very frequent."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._until = [0, *accumulate(1 + len(self.b2j.get(line, ())) for line in old)]
        """The steps of one search, for each number of lines of the old text."""
        self._left = min(_STEPS_A_LINE * (len(old) + len(new)), _MOST_STEPS)

    def find_longest_match(
        self, a_low: int = 0, a_high: int | None = None, b_low: int = 0, b_high: int | None = None
    ) -> difflib.Match:
        end = len(self._until) - 1 if a_high is None else a_high
        self._left -= self._until[end] - self._until[a_low]
        if self._left < 0:
            raise _TooMuch
        return super().find_longest_match(a_low, a_high, b_low, b_high)


def unified(
    old: Sequence[str], new: Sequence[str], old_name: str, new_name: str, ending: str = "\n"
) -> Iterator[str]:
    """The lines of a unified diff; if that takes too long, all between the first and the last change differs.

    `ending`: of the lines that the diff adds.
    """
    try:
        _Matcher(old, new).get_matching_blocks()
    except _TooMuch:
        return _whole(old, new, old_name, new_name, ending)
    return difflib.unified_diff(old, new, old_name, new_name, lineterm=ending)


def _whole(
    old: Sequence[str], new: Sequence[str], old_name: str, new_name: str, ending: str
) -> Iterator[str]:
    head = _equal(old, new)
    most = min(len(old), len(new)) - head
    tail = _equal(old[len(old) - most :][::-1], new[len(new) - most :][::-1])
    start = max(0, head - _CONTEXT)
    after = min(tail, _CONTEXT)
    yield f"--- {old_name}{ending}"
    yield f"+++ {new_name}{ending}"
    ranges = (f"{start + 1},{len(text) - tail + after - start}" for text in (old, new))
    yield "@@ -{} +{} @@{}".format(*ranges, ending)
    yield from (f" {line}" for line in old[start:head])
    yield from (f"-{line}" for line in old[head : len(old) - tail])
    yield from (f"+{line}" for line in new[head : len(new) - tail])
    yield from (f" {line}" for line in old[len(old) - tail :][:after])


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines two texts have in common at their start."""
    pairs = zip(old, new, strict=False)
    return next(
        (number for number, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new))
    )


def nearest(name: str, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """The choice most similar to a name; "" if none is, or if a comparison would take long.

    `cutoff`: from 0 to 1, how similar it must be.
    """
    compared = [choice for choice in choices if len(choice) <= LONGEST_NAME]
    if len(name) > LONGEST_NAME or len(compared) > MOST_NAMES:
        return ""
    near = difflib.get_close_matches(name, compared, n=1, cutoff=cutoff)
    return near[0] if near else ""
