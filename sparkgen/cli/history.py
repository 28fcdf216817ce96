"""`sparkgen history`: the runs of an application that are still in the cluster."""

from __future__ import annotations

from sparkgen.cli import listing, output
from sparkgen.cli.options import ApplicationName, Context, Kubeconfig, Listing, ListingForm, Namespace

SUMMARY = "List the runs of an application that are still in the cluster."
HELP = """List the runs of an application that are still in the cluster, the latest first.

spec.run.history and spec.timeToLiveSeconds set which runs are kept; a schedule has its own limits. The reason
why a run failed comes from its driver's pod and log, as long as they exist.
"""
EXAMPLES = """\b
Examples:
  sparkgen history pi
  sparkgen history nightly -n analytics -o wide
  sparkgen history pi -o json | jq -r '.runs[] | [.run, .state, .exitCode] | @tsv'
"""


def command(
    name: ApplicationName,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: ListingForm = Listing.TEXT,
) -> None:
    """Print the table."""
    from datetime import UTC, datetime  # noqa: PLC0415 - not for every command's help

    from sparkgen.cluster import Place, connect  # noqa: PLC0415
    from sparkgen.live.find import find  # noqa: PLC0415
    from sparkgen.live.rows import every, rows  # noqa: PLC0415
    from sparkgen.live.table import HISTORY  # noqa: PLC0415

    cluster = connect(Place(kubeconfig, context, namespace))
    found = find(cluster, [name])
    listing.tell_unseen(found.unseen)
    now = datetime.now(UTC)
    listing.show(rows(cluster, found.applications, every, now), HISTORY, form.value, now)
    if not found.applications[0].runs:
        output.note(f"{found.applications[0].name} has not run yet in {cluster.namespace}")
