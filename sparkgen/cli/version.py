"""`sparkgen version`: prints the version."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen import __version__
from sparkgen.cli.option_table import command
from sparkgen.cli.output import write

HELP = "Print the version of sparkgen."
EXAMPLES = "\b\nExamples:\n  sparkgen version\n  sparkgen --version"


@dataclass(frozen=True)
class VersionOptions:
    """The command has none."""


def version(_options: VersionOptions | None = None) -> None:
    """Print the version."""
    write(f"sparkgen {__version__}\n")


COMMAND = command(VersionOptions, version)
