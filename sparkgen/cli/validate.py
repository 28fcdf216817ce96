"""`sparkgen validate`, as typer declares it. What it does is in render_command.py."""

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

SUMMARY = "Check documents: every problem at once, with its line."
HELP = """Check documents: every problem at once, with its line, what is allowed and the next step.

Problems go to standard output. Exits 1 if there is an error (with --strict: or a warning).
`sparkgen rule CODE` explains a problem. A warning can be ignored where it stands, by a comment at the
end of its line: `# sparkgen: ignore CODE -- reason`.
"""
EXAMPLES = """\b
Examples:
  sparkgen validate app.yaml
  sparkgen validate apps/ --strict
  sparkgen validate app.yaml -f prod.yaml --set spec.executor.instances=8
  sparkgen validate app.yaml --format github    # notes in a pull request
  cat app.yaml | sparkgen validate -
"""


def command(
    sources: Sources,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are findings too: exit 1.")] = False,
    form: ProblemFormat = Format.TEXT,
    colour: ColourChoice = Colour.AUTO,
    quiet: Quiet = False,
) -> None:
    """Check documents and print what is wrong with them."""
    asked = requested(sources, values, sets, set_strings, form=form, colour=colour, lock=lock)
    if code := validate(replace(asked, quiet=quiet, strict=strict)):
        raise typer.Exit(code)
