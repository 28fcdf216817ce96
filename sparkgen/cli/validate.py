"""Declares `sparkgen validate`; render_command.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES

if TYPE_CHECKING:
    from sparkgen.cli.request import Request

SUMMARY = "Check documents, and report every problem with its line."
HELP = """Check documents, and report every problem with its line, what is allowed and what to do.

Problems go to standard output. Exits 1 if there is an error (with --strict, also for a warning).
`sparkgen rule CODE` explains a problem. To ignore a warning, add a comment at the end of the reported line:
`# sparkgen: ignore CODE -- reason`.
"""
EXAMPLES = """\b
Examples:
  sparkgen validate app.yaml
  sparkgen validate apps/ --strict
  sparkgen validate app.yaml -f prod.yaml --set spec.executor.instances=8
  sparkgen validate app.yaml --format github    # annotate a pull request
  cat app.yaml | sparkgen validate -
"""


def _load() -> Work[Request]:
    from sparkgen.cli import render_command, request  # noqa: PLC0415 - not for every command's help

    return request.Request, render_command.validate


COMMAND = command(
    _load,
    SOURCES,
    *CHANGES,
    LOCK,
    Option("strict", "--strict", "Exit 1 for warnings, too."),
    PROBLEM_FORMAT,
    COLOUR,
    QUIET,
)
