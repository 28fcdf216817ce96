"""`sparkgen wait`, as typer declares it. What it does is in waiting.py."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import ApplicationName, Context, Kubeconfig, Namespace, Quiet, RunName

SUMMARY = "Wait until a run has ended; its exit code is the command's."
HELP = """Wait until a run of an application has ended: the latest one, or --run.

Exit codes: 0 it succeeded; that of the driver's program if it failed (1 if there is none, as when it was
killed); 124 it has not ended within --timeout; 2 wrong usage, or a cluster that refuses; 130 after Ctrl-C.
Neither the timeout nor Ctrl-C ends the run.
"""
EXAMPLES = """\b
Examples:
  sparkgen wait pi -n analytics
  sparkgen wait pi --timeout 30m
  sparkgen wait pi --run pi-51bb888d
"""


def command(
    name: ApplicationName,
    run: RunName = "",
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout", metavar="TIME", help="How long at most, as in 30m; then 124.", show_default=False
        ),
    ] = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    quiet: Quiet = False,
) -> None:
    """Wait for a run's end."""
    from sparkgen.cli import waiting  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place, connect  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    cluster = connect(place)
    wait_options = waiting.WaitOptions(name, run, timeout, quiet=quiet)
    if code := waiting.wait(cluster, wait_options, place, cluster.namespace):
        raise typer.Exit(code)
