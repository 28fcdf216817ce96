"""The values that a report is made from, in addition to the problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Lines = Callable[[str, int], str]
"""Returns a line of an input by its file and number (from 1), without its line break.

"" if there is no line to show.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """The meaning of a code: `title` in one line, `page` as Markdown with the title as its first heading."""

    code: str
    title: str
    page: str


def _no_lines(_file: str, _line: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Context:
    """The values that a report may use in addition to the problems.

    `masked`: the codes about secrets: a line with one of these problems is never shown, not even for its
    other problems.
    """

    lines: Lines = _no_lines
    colour: bool = False
    masked: frozenset[str] = frozenset()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    version: str = ""
