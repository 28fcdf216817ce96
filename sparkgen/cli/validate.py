"""Declares `sparkgen validate` for typer; render_command.py does its work."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import (
    Colour,
    ColourChoice,
    Format,
    Lock,
    ProblemFormat,
    Quiet,
    Set,
    SetString,
    Sources,
    Values,
    requested,
)
from sparkgen.cli.render_command import validate

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


def command(
    sources: Sources,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for warnings, too.")] = False,
    form: ProblemFormat = Format.TEXT,
    colour: ColourChoice = Colour.AUTO,
    quiet: Quiet = False,
) -> None:
    """Check documents, and print their problems."""
    asked = requested(sources, values, sets, set_strings, form=form, colour=colour, lock=lock)
    if code := validate(replace(asked, quiet=quiet, strict=strict)):
        raise typer.Exit(code)
