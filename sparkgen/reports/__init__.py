"""Problems -> text, in the formats that people, editors and CI systems read. Pure: the caller prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkgen.errors import Problem
from sparkgen.reports.context import Context, Lines, Rule

__all__ = ["FORMATS", "Context", "Lines", "Rule", "report"]

FORMATS = ("text", "json", "github", "sarif")
LONGEST = 1_000
"""Characters of one text of a problem: a document's aliases may repeat a long value thousands of times."""


def report(problems: Sequence[Problem], form: str, context: Context) -> str:
    """The problems, sorted by position, as text in the format `form` (one of FORMATS).

    It ends with a newline or is empty. Of long texts, it has the beginnings.
    """
    ordered = [_shortened(problem, form) for problem in sorted(problems, key=_order)]
    # A run uses only one format, so the others are not imported.
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

    return as_text(ordered, context)


def _order(problem: Problem) -> tuple[object, ...]:
    """The sort key of a problem: its position, then its texts, so that the order of input has no effect."""
    return (problem.sort_key, problem.severity.value, problem.found, problem.allowed, problem.next_step)


def _shortened(problem: Problem, form: str) -> Problem:
    """A problem with shorter texts. The text report needs the whole value: it shows where its line has it."""
    return replace(
        problem,
        message=_cut(problem.message),
        found=problem.found if form == "text" else _cut(problem.found),
        allowed=_cut(problem.allowed),
        next_step=_cut(problem.next_step),
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
