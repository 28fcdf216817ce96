"""`sparkgen kill`, as typer declares it. What it does is in ending.py."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import (
    ApplicationName,
    Context,
    Kubeconfig,
    Namespace,
    ObjectForm,
    ObjectsForm,
    Quiet,
    Yes,
)

SUMMARY = "End a run that runs; what is left of it says that it was killed."
HELP = """End the run of an application: its driver and its executors go, its Job stays as a failed one.

It is not run again by the next apply or sync. A driver has its grace period to end; its log goes with its
pod: `sparkgen logs` before, if you need it. A streaming application is stopped (no replicas) until it is
applied again.
"""
EXAMPLES = """\b
Examples:
  sparkgen kill pi -n analytics
  sparkgen kill pi --run pi-51bb888d --yes
"""


def command(
    name: ApplicationName,
    run: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="RUN",
            help="The run of this name, or whose name ends so; needed where several run.",
            show_default=False,
        ),
    ] = "",
    yes: Yes = False,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: ObjectsForm = ObjectForm.TEXT,
    quiet: Quiet = False,
) -> None:
    """End a run."""
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    options = ending.EndOptions(place, name, run, form.value, yes=yes, quiet=quiet)
    if code := ending.kill(options):
        raise typer.Exit(code)
