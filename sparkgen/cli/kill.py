"""Declares `sparkgen kill` for typer; ending.py does its work."""

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


def command(
    name: ApplicationName,
    run: Annotated[
        str,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Run to stop, by its name or the end of its name. Required if several are running.",
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
    """Stop a run."""
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    options = ending.EndOptions(place, form.value, yes=yes, quiet=quiet)
    if code := ending.kill(options, name, run):
        raise typer.Exit(code)
