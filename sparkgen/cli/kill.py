"""Declares `sparkgen kill`; ending.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import APPLICATION, OBJECTS_OUTPUT, PLACE, QUIET, YES

if TYPE_CHECKING:
    from sparkgen.cli.ending import KillOptions

SUMMARY = "Stop a run, and keep its Job, marked as failed."
HELP = """Stop a run: delete its driver and executors, and keep its Job, marked as failed.

The next apply or sync does not start the run again. The driver gets its grace period to stop. The driver's
log is deleted with its pod: if you need the log, run `sparkgen logs` first. A streaming application is scaled
to zero until you or your GitOps tool apply it again.
"""
EXAMPLES = """\b
Examples:
  sparkgen kill pi -n analytics
  sparkgen kill pi --run pi-51bb888d --yes
"""


def _load() -> Work[KillOptions]:
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help

    return ending.KillOptions, ending.kill


COMMAND = command(
    _load,
    APPLICATION,
    Option(
        "run",
        "--run RUN",
        "Run to stop, by its name or the end of its name. Required if several are running.",
    ),
    YES,
    *PLACE,
    OBJECTS_OUTPUT,
    QUIET,
)
