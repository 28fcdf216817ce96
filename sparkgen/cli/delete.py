"""Declares `sparkgen delete`; ending.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import OBJECTS_OUTPUT, PLACE, QUIET, YES

if TYPE_CHECKING:
    from sparkgen.cli.ending import DeleteOptions

SUMMARY = "Delete applications from a cluster, with all their runs."
HELP = """Delete applications and everything that was applied for them, even if they are running.

The command first lists the objects that it will delete: all runs with their executors, files and permissions.
It keeps Secrets, claims and ConfigMaps that you created. If one of the applications cannot be found, the
command deletes nothing.

If Argo CD, Flux or Helm manages the application, delete the application there instead: otherwise, that tool
would create it again and start a new run.
"""
EXAMPLES = """\b
Examples:
  sparkgen delete pi -n analytics
  sparkgen delete pi etl --dry-run
  sparkgen delete pi --yes
"""


def _load() -> Work[DeleteOptions]:
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help

    return ending.DeleteOptions, ending.delete


COMMAND = command(
    _load,
    Option("names", "NAME", "Applications.", many=True, required=True),
    YES,
    Option("dry_run", "--dry-run", "List what would be deleted, and delete nothing."),
    *PLACE,
    OBJECTS_OUTPUT,
    QUIET,
)
