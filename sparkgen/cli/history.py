"""`sparkgen history`: lists the runs of applications that are still in the cluster."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import listing, output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import APPLICATIONS, LISTING_OUTPUT, PLACE, RUN
from sparkgen.cli.request import ClusterOptions
from sparkgen.cluster import connect
from sparkgen.errors import SparkgenError
from sparkgen.live.event_log import fetch
from sparkgen.live.find import choose, find, one
from sparkgen.live.rows import every, rows
from sparkgen.live.table import HISTORY, NAME
from sparkgen.writers import own_files

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

HELP = """List the runs of applications that are still in the cluster, the latest first.

spec.run.history and spec.timeToLiveSeconds determine which runs are kept. For a schedule, its own limits
determine this. If a run failed, the command reads the reason from the driver's pod and log, as long as they
exist.

With --event-log, the command writes the event log of one run to a file instead. It gets the log from a
history server in the namespace, through a forwarded port as in `sparkgen ui`. The file is a zip archive,
which `sparkgen whatif` reads.
"""
EXAMPLES = """\b
Examples:
  sparkgen history                      # all applications of the context's namespace
  sparkgen history pi etl
  sparkgen history nightly -n analytics -o wide
  sparkgen history nightly --event-log log.zip && sparkgen whatif log.zip
  sparkgen history pi -o json | jq -r '.runs[] | [.run, .state, .exitCode] | @tsv'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions(ClusterOptions):
    """The applications, and how to print their runs; or the run whose event log to write to a file."""

    names: tuple[str, ...]
    output: str
    event_log: str
    run: str


def history(options: HistoryOptions) -> None:
    """Print the table, or write the event log."""
    if options.run and not options.event_log:
        raise SparkgenError("--run selects the run whose event log to write; add --event-log FILE")
    if options.event_log and len(options.names) != 1:
        raise SparkgenError("--event-log writes the log of one run; name one application or run")

    cluster = connect(options.place)
    if options.event_log:
        _write_event_log(cluster, options.names[0], options.run, options.event_log)
        return
    result = find(cluster, options.names)
    listing.tell_unseen(result.unseen)
    now = datetime.now(UTC)
    columns = HISTORY if len(result.applications) == 1 else (NAME, *HISTORY)
    shown = rows(cluster, result.applications, every, now, output.say)
    listing.show(shown, columns, options.output, now)
    if not result.applications:
        output.note(listing.nothing_in(cluster.namespace))
    for application in result.applications:
        if not application.runs:
            output.note(f"{application.name} has not run yet in {cluster.namespace}")


COMMAND = command(
    HistoryOptions,
    history,
    APPLICATIONS,
    *PLACE,
    LISTING_OUTPUT,
    Option("event_log", "--event-log FILE", "Write the event log of a run here."),
    RUN,
)


def _write_event_log(cluster: Cluster, name: str, run: str, file: str) -> None:
    """Write the event log of a run to a file, and print the next step."""
    id_ = fetch(cluster, choose(one(cluster, name), run), partial(own_files.write, Path(file)))
    output.note(f"wrote the event log of {id_} to {file}; next: sparkgen whatif {shlex.quote(file)}")
