"""Declares `sparkgen lint`; linting.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES, TARGET

if TYPE_CHECKING:
    from sparkgen.cli.linting import Lint

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


def _load() -> Work[Lint]:
    from sparkgen.cli import linting  # noqa: PLC0415 - the rules are for this command alone

    return linting.Lint, linting.lint


COMMAND = command(
    _load,
    SOURCES,
    Option(
        "profiles",
        "--profile NAME",
        "Check the rules of this profile instead of the configured ones. Repeatable.",
        many=True,
    ),
    Option(
        "rules",
        "--rule CODE=LEVEL",
        "Set the severity of a rule: off, info, warning or error. Repeatable.",
        many=True,
    ),
    Option(
        "fail_on",
        "--fail-on LEVEL",
        "Exit 1 for this severity or higher: info, warning, error or never (default: warning).",
    ),
    Option(
        "show",
        "--show LEVEL",
        "Show findings of this severity or higher: info, warning or error (default: warning).",
    ),
    Option("fix", "--fix", "Apply the safe fixes to the files."),
    Option("diff", "--diff", "Print what --fix would change. Exit 1 if there are changes."),
    Option("config", "--config FILE", "Read this configuration file instead of .sparkgen.yaml."),
    Option("isolated", "--isolated", "Do not read a configuration file."),
    Option(
        "evidence",
        "--evidence LOG",
        "Event log of a run, to compare its real use with the document's requests. Repeatable.",
        many=True,
    ),
    TARGET,
    *CHANGES,
    LOCK,
    PROBLEM_FORMAT,
    COLOUR,
    QUIET,
)
