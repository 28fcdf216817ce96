"""Declares `sparkgen wait` for typer; waiting.py does its work."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import ApplicationName, Context, Kubeconfig, Namespace, Quiet, RunName

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


def command(
    name: ApplicationName,
    run: RunName = "",
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout",
            metavar="TIME",
            help="Maximum time to wait, for example 30m. After this time, exit 124.",
            show_default=False,
        ),
    ] = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    quiet: Quiet = False,
) -> None:
    """Wait for the end of a run."""
    from sparkgen.cli import waiting  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place, connect  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    cluster = connect(place)
    wait_options = waiting.WaitOptions(name, run, timeout, quiet=quiet)
    if code := waiting.wait(cluster, wait_options, place, cluster.namespace):
        raise typer.Exit(code)
