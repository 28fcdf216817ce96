"""`sparkgen status`: prints the state of a namespace's applications, and why one is stuck."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from sparkgen.cli import listing, output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import APPLICATIONS, CONTEXT, KUBECONFIG, LISTING_OUTPUT, NAMESPACE
from sparkgen.cluster import ALL_NAMESPACES, ClusterError, Place, connect
from sparkgen.errors import SparkgenError
from sparkgen.live.find import find, in_words
from sparkgen.live.rows import current, rows
from sparkgen.live.table import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkgen.cluster import Cluster
    from sparkgen.live.rows import RunStatus

HELP = """Show the state of applications in a cluster: each latest run, and all runs that have not ended.

EXECUTORS shows how many executors are running, how many are wanted, and how many are pending. REASON shows
why a run is waiting or has failed, and what to do (docs/troubleshooting.md).

The command changes nothing in the cluster. It needs permission to list Jobs and pods. With permission to read
Events and logs, it shows more details. If you may not list Jobs and pods in all namespaces at once, -A lists
the namespaces, and shows those in which you may.
"""
EXAMPLES = """\b
Examples:
  sparkgen status                       # all applications of the context's namespace
  sparkgen status pi -n analytics
  sparkgen status pi-1a2b3c4d           # one run
  sparkgen status -n analytics -n etl -o wide
  sparkgen status -A                    # all namespaces that you may see
  sparkgen status pi --watch            # a line for each change, until Ctrl-C
  sparkgen status -o json | jq '.runs[] | select(.state == "Failed")'
"""

WATCH_SECONDS = 2.0


@dataclass(frozen=True)
class StatusOptions:
    """The applications and namespaces to show; `everywhere`: all namespaces; `output`: a form of listings."""

    names: tuple[str, ...]
    namespaces: tuple[str, ...]
    everywhere: bool
    context: str
    kubeconfig: str
    output: str
    watch: bool


def status(options: StatusOptions) -> None:
    """Print the table; with `watch`, also its changes."""
    spaces, form = list(dict.fromkeys(options.namespaces)), options.output
    if options.everywhere and spaces:
        raise SparkgenError("--all-namespaces and --namespace cannot be combined; leave one of them out")
    if options.watch and form not in ("text", "wide"):
        raise SparkgenError(f"--watch prints lines of a table; leave out -o {form}")
    cluster = connect(Place(options.kubeconfig, options.context, spaces[0] if spaces else ""))
    if options.everywhere:
        spaces = [ALL_NAMESPACES]
    tell = cache(output.say)  # once, however often the runs are read
    rows, now = _look(cluster, options.names, spaces, tell)
    listing.show(rows, STATUS, form, now, spaces=_several(spaces))
    if not rows:
        where = in_words(spaces or [cluster.namespace])
        output.note(listing.nothing_in(where))
    if options.watch:
        _watch(cluster, options.names, spaces, form, rows, tell)


COMMAND = command(
    StatusOptions,
    status,
    APPLICATIONS,
    NAMESPACE._replace(name="namespaces", help=f"{NAMESPACE.help} Repeatable.", many=True),
    Option("everywhere", "--all-namespaces -A", "All namespaces that you may see."),
    CONTEXT,
    KUBECONFIG,
    LISTING_OUTPUT,
    Option("watch", "--watch -w", "Keep running, and print a line whenever a run changes."),
)


def _look(
    cluster: Cluster, names: Sequence[str], spaces: Sequence[str], tell: Callable[[str], None]
) -> tuple[list[RunStatus], datetime]:
    """Returns the rows, and the time at which they were read. `tell`: prints what they lack."""
    now = datetime.now(UTC)
    result = find(cluster, names, spaces)
    listing.tell_unseen(result.unseen, tell)
    return rows(cluster, result.applications, current, now, tell), now


def _several(spaces: Sequence[str]) -> bool:
    """Whether rows need a column for the namespace."""
    return len(spaces) > 1 or ALL_NAMESPACES in spaces


def _watch(
    cluster: Cluster,
    names: Sequence[str],
    spaces: Sequence[str],
    form: str,
    shown: Sequence[RunStatus],
    tell: Callable[[str], None],
) -> None:
    """Print the rows that changed since they were shown last, forever; retry if the server is silent."""
    silent = False
    while True:
        time.sleep(WATCH_SECONDS)
        try:
            rows, now = _look(cluster, names, spaces, tell)
        except ClusterError as error:
            if error.status is not None and error.status < 500:
                raise
            if not silent:
                output.say(f"{error}; retrying")
            silent = True
            continue
        silent = False
        before = set(shown)
        changed = [row for row in rows if row not in before]
        listing.show(changed, STATUS, form, now, spaces=_several(spaces), header=False)
        shown = rows
