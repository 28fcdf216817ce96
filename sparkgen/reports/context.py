"""What a report is made from, beside the problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Lines = Callable[[str, int], str]
"""The text of a line of an input by file and number from 1, without its end.

"" where there is none to show.
"""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code stands for: `title` in one line, `page` as Markdown with the title as its first heading."""

    code: str
    title: str
    page: str


def _no_lines(_file: str, _line: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a report may use beside the problems.

    `masked`: codes about secrets: lines with one of their problems are never shown, whatever else is wrong
    there.
    """

    lines: Lines = _no_lines
    colour: bool = False
    masked: frozenset[str] = frozenset()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    version: str = ""
