"""`sparkgen version`: prints the version."""

from __future__ import annotations

import typer

from sparkgen import __version__
from sparkgen.cli.output import write

SUMMARY = HELP = "Print the version of sparkgen."
EXAMPLES = "\b\nExamples:\n  sparkgen version\n  sparkgen --version"


def command() -> None:
    """Print the version."""
    write(f"sparkgen {__version__}\n")


def print_and_leave(wanted: bool) -> None:
    """Print the version and exit, for the option `--version`."""
    if wanted:
        command()
        raise typer.Exit
