"""`sparkgen version`: prints the version."""

from __future__ import annotations

from sparkgen import __version__
from sparkgen.cli.option_table import plain_command
from sparkgen.cli.output import write

HELP = "Print the version of sparkgen."
EXAMPLES = "\b\nExamples:\n  sparkgen version\n  sparkgen --version"


def version() -> None:
    """Print the version."""
    write(f"sparkgen {__version__}\n")


COMMAND = plain_command(version)
