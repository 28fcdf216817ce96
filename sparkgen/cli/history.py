"""`sparkgen history`: lists the runs of applications that are still in the cluster."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sparkgen.cli import listing, output
from sparkgen.cli.options import (
    ApplicationNames,
    Context,
    Kubeconfig,
    Listing,
    ListingForm,
    Namespace,
    RunName,
)
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

SUMMARY = "List the runs of applications that are still in the cluster."
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


def command(
    names: ApplicationNames = None,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: ListingForm = Listing.TEXT,
    event_log: Annotated[
        str,
        typer.Option(
            "--event-log", metavar="FILE", help="Write the event log of a run here.", show_default=False
        ),
    ] = "",
    run: RunName = "",
) -> None:
    """Print the table, or write the event log."""
    names = names or []
    if run and not event_log:
        raise SparkgenError("--run selects the run whose event log to write; add --event-log FILE")
    if event_log and len(names) != 1:
        raise SparkgenError("--event-log writes the log of one run; name one application or run")
    from datetime import UTC, datetime  # noqa: PLC0415 - not for every command's help

    from sparkgen.cluster import Place, connect  # noqa: PLC0415
    from sparkgen.live.find import find  # noqa: PLC0415
    from sparkgen.live.rows import every, rows  # noqa: PLC0415
    from sparkgen.live.table import HISTORY, NAME  # noqa: PLC0415

    cluster = connect(Place(kubeconfig, context, namespace))
    if event_log:
        _write_event_log(cluster, names[0], run, event_log)
        return
    result = find(cluster, names)
    listing.tell_unseen(result.unseen)
    now = datetime.now(UTC)
    columns = HISTORY if len(result.applications) == 1 else (NAME, *HISTORY)
    listing.show(rows(cluster, result.applications, every, now), columns, form.value, now)
    if not result.applications:
        output.note(listing.nothing_in(cluster.namespace))
    for application in result.applications:
        if not application.runs:
            output.note(f"{application.name} has not run yet in {cluster.namespace}")


def _write_event_log(cluster: Cluster, name: str, run: str, file: str) -> None:
    """Write the event log of a run to a file, and print the next step."""
    from sparkgen.live.event_log import fetch  # noqa: PLC0415 - as above
    from sparkgen.live.find import choose, one  # noqa: PLC0415
    from sparkgen.writers import own_files  # noqa: PLC0415

    id_ = fetch(cluster, choose(one(cluster, name), run), partial(own_files.write, Path(file)))
    output.note(f"wrote the event log of {id_} to {file}; next: sparkgen whatif {shlex.quote(file)}")
