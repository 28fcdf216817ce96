"""`sparkgen lint`, as typer declares it. What it does is in linting.py."""

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

SUMMARY = "Review documents: policy on top of validity, by profile."
HELP = """Review documents as an experienced colleague would: what is valid, and still unwise.

Everything that validate says, and the rules of the chosen profiles: gitops, pss-restricted, production
(these three unless others are named) and cost. Rules look at the pods that are rendered, executors included.
`sparkgen rule CODE` explains a finding. A finding can be ignored where it stands, by a comment at the end of
its line: `# sparkgen: ignore CODE -- reason`. What a repository wants of its documents is in .sparkgen.yaml,
in the directory of the call or above it (docs/lint.md).

Exits 1 if there is a finding of the severity --fail-on or worse.
"""
EXAMPLES = """\b
Examples:
  sparkgen lint app.yaml
  sparkgen lint apps/ --profile pss-restricted --profile cost
  sparkgen lint app.yaml --show info    # what is worth knowing, too
  sparkgen lint app.yaml -f prod.yaml --fail-on error
  sparkgen lint app.yaml --evidence app-1234.zstd   # beside what a run used
  sparkgen lint app.yaml --rule SG220=error --rule SG234=off
  sparkgen lint apps/ --fix             # fix what needs no decision
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
            help="Look for the rules of this profile, instead of the configured ones. Repeatable.",
            show_default=False,
        ),
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="CODE=LEVEL",
            help="What a finding weighs: off, info, warning or error. Repeatable.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="LEVEL",
            help="Exit 1 from this severity on: info, warning, error or never (default: warning).",
            show_default=False,
        ),
    ] = "",
    show: Annotated[
        str,
        typer.Option(
            "--show",
            metavar="LEVEL",
            help="Show findings from this severity on: info, warning or error (default: warning).",
            show_default=False,
        ),
    ] = "",
    fix: Annotated[
        bool, typer.Option("--fix", help="Fix what needs no decision, in the files themselves.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what --fix would change; exit 1 if it would.")
    ] = False,
    config: Annotated[
        str,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Read this configuration, and look for no other.",
            show_default=False,
        ),
    ] = "",
    isolated: Annotated[bool, typer.Option("--isolated", help="Read no configuration.")] = False,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="LOG",
            help="An event log of a run: what it used, beside what the document asks for. Repeatable.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Who applies the manifests, as for render; overrides metadata.target of the documents.",
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
    """Review documents and print what is unwise in them."""
    from sparkgen.cli.linting import lint  # noqa: PLC0415 - the rules are for this command alone
    from sparkgen.usecases.reviewing import LintOptions  # noqa: PLC0415

    asked = requested(sources, values, sets, set_strings, form=form, colour=colour, target=target, lock=lock)
    options = LintOptions(
        tuple(profiles or ()), tuple(rules or ()), fail_on, show, config, isolated, tuple(evidence or ())
    )
    if code := lint(replace(asked, quiet=quiet), options, fix=fix, diff=diff):
        raise typer.Exit(code)
