"""Problems -> text, in the formats that people, editors and CI systems read. Pure: the caller prints it."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.errors import Problem
from sparkgen.reports.context import Context, Lines, Rule

__all__ = ["FORMATS", "Context", "Lines", "Rule", "report"]

FORMATS = ("text", "json", "github", "sarif")


def report(problems: Sequence[Problem], form: str, context: Context) -> str:
    """The problems, sorted by position, as text in the format `form` (one of FORMATS).

    It ends with a newline or is empty.
    """
    ordered = sorted(problems, key=_order)
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
