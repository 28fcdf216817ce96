"""Declares `sparkgen delete` for typer; ending.py does its work."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import Context, Kubeconfig, Namespace, ObjectForm, ObjectsForm, Quiet, Yes

SUMMARY = "Delete applications from a cluster, with all their runs."
HELP = """Delete applications and everything that was applied for them, even if they are running.

The command first lists the objects that it will delete: all runs with their executors, files and permissions.
It keeps Secrets, claims and ConfigMaps that you created. If one of the applications cannot be found, the
command deletes nothing.

If Argo CD, Flux or Helm manages the application, delete the application there instead: otherwise, that tool
would create it again and start a new run.
"""
EXAMPLES = """\b
Examples:
  sparkgen delete pi -n analytics
  sparkgen delete pi etl --dry-run
  sparkgen delete pi --yes
"""


def command(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Applications.", show_default=False)],
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=("List what would be deleted, and delete nothing."))
    ] = False,
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: ObjectsForm = ObjectForm.TEXT,
    quiet: Quiet = False,
) -> None:
    """Delete applications."""
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    options = ending.EndOptions(place, form.value, yes=yes, dry_run=dry_run, quiet=quiet)
    if code := ending.delete(options, names):
        raise typer.Exit(code)
