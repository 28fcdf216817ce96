"""Declares `sparkgen wait`; waiting.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import APPLICATION, PLACE, QUIET, RUN

if TYPE_CHECKING:
    from sparkgen.cli.waiting import WaitOptions

SUMMARY = "Wait for a run to end, and exit with its exit code."
HELP = """Wait for a run of an application to end: the latest run, or the run that --run names.

Exit codes: 0 if the run succeeded. If the run failed, the exit code of the driver's program, or 1 if the
program has none, for example because it was killed. 124 if the run has not ended within --timeout. 2 for
wrong usage, or if the cluster refuses a request. 130 after Ctrl-C.

Neither the timeout nor Ctrl-C stops the run.
"""
EXAMPLES = """\b
Examples:
  sparkgen wait pi -n analytics
  sparkgen wait pi --timeout 30m
  sparkgen wait pi --run pi-51bb888d
"""


def _load() -> Work[WaitOptions]:
    from sparkgen.cli import waiting  # noqa: PLC0415 - not for every command's help

    return waiting.WaitOptions, waiting.connect_and_wait


COMMAND = command(
    _load,
    APPLICATION,
    RUN,
    Option("timeout", "--timeout TIME", "Maximum time to wait, for example 30m. After this time, exit 124."),
    *PLACE,
    QUIET,
)
