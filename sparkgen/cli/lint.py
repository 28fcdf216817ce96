"""Declares `sparkgen lint` for typer; linting.py does its work."""

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
    Target,
    Values,
    requested,
)

SUMMARY = "Check documents against best practices and policies, by profile."
HELP = """Check documents against best practices and policies, to find settings that are valid but unwise.

Reports everything that `validate` reports, and the findings of the chosen profiles. The profiles are gitops,
pss-restricted, production and cost; the first three are the default. Rules check the rendered pods, too,
including executors.

`sparkgen rule CODE` explains a finding. To ignore a finding, add a comment at the end of the reported line:
`# sparkgen: ignore CODE -- reason`. To configure a repository, put .sparkgen.yaml in its root: sparkgen reads
the .sparkgen.yaml in the current directory, or else the nearest one in a directory above it (docs/lint.md).

Exits 1 if a finding has the severity of --fail-on, or a higher one.
"""
EXAMPLES = """\b
Examples:
  sparkgen lint app.yaml
  sparkgen lint apps/ --profile pss-restricted --profile cost
  sparkgen lint app.yaml --show info    # also show infos
  sparkgen lint app.yaml -f prod.yaml --fail-on error
  sparkgen lint app.yaml --evidence app-1234.zstd   # compare with a run
  sparkgen lint app.yaml --rule SG220=error --rule SG234=off
  sparkgen lint apps/ --fix             # apply the safe fixes
  sparkgen lint apps/ --diff            # show what --fix would change
  sparkgen lint apps/ --format sarif > lint.sarif
"""


def command(
    sources: Sources,
    profiles: Annotated[
        list[str] | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="Check the rules of this profile instead of the configured ones. Repeatable.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="CODE=LEVEL",
            help="Set the severity of a rule: off, info, warning or error. Repeatable.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="LEVEL",
            help="Exit 1 for this severity or higher: info, warning, error or never (default: warning).",
            show_default=False,
        ),
    ] = "",
    show: Annotated[
        str,
        typer.Option(
            "--show",
            metavar="LEVEL",
            help="Show findings of this severity or higher: info, warning or error (default: warning).",
            show_default=False,
        ),
    ] = "",
    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes to the files.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what --fix would change. Exit 1 if there are changes.")
    ] = False,
    config: Annotated[
        str,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Read this configuration file instead of .sparkgen.yaml.",
            show_default=False,
        ),
    ] = "",
    isolated: Annotated[bool, typer.Option("--isolated", help="Do not read a configuration file.")] = False,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="LOG",
            help="Event log of a run, to compare its real use with the document's requests. Repeatable.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Tool that applies the manifests. Overrides metadata.target.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    form: ProblemFormat = Format.TEXT,
    colour: ColourChoice = Colour.AUTO,
    quiet: Quiet = False,
) -> None:
    """Check documents, and print the findings."""
    from sparkgen.cli.linting import lint  # noqa: PLC0415 - the rules are for this command alone
    from sparkgen.usecases.reviewing import LintOptions  # noqa: PLC0415

    asked = requested(sources, values, sets, set_strings, form=form, colour=colour, target=target, lock=lock)
    options = LintOptions(
        tuple(profiles or ()), tuple(rules or ()), fail_on, show, config, isolated, tuple(evidence or ())
    )
    if code := lint(replace(asked, quiet=quiet), options, fix=fix, diff=diff):
        raise typer.Exit(code)
