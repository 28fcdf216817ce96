"""Problems -> text, in the formats that people, editors and CI systems read. Pure: the caller prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sparkgen.errors import Problem

FORMATS = ("text", "concise", "json", "github", "sarif")

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


def report(problems: Sequence[Problem], form: str, context: Context) -> str:
    """The problems, sorted by place, as text in the form asked for (one of FORMATS).

    It ends with a newline or is empty.
    """
    ordered = sorted(problems, key=_order)
    # One format is used in one run: the others are not imported.
    if form == "json":
        from sparkgen.reports.jsonreport import as_json  # noqa: PLC0415

        return as_json(ordered)
    if form == "github":
        from sparkgen.reports.github import as_github  # noqa: PLC0415

        return as_github(ordered)
    if form == "sarif":
        from sparkgen.reports.sarif import as_sarif  # noqa: PLC0415

        return as_sarif(ordered, context)
    from sparkgen.reports.text import as_text  # noqa: PLC0415

    return as_text(ordered, context, excerpts=form != "concise")


def _order(problem: Problem) -> tuple[object, ...]:
    """By place; what stands at one place in an order that no input decides."""
    return (problem.sort_key, problem.severity.value, problem.found, problem.allowed, problem.next_step)
