"""Problems -> text, in the formats that people, editors and CI systems read. Pure: the caller prints."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.errors import Problem
from sparkgen.reports.context import Context, Lines, Rule

__all__ = ["FORMATS", "Context", "Lines", "Rule", "report"]

FORMATS = ("text", "concise", "json", "github", "sarif")


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
