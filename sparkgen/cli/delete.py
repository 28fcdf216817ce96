"""`sparkgen delete`, as typer declares it. What it does is in ending.py."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import Context, Kubeconfig, Namespace, ObjectForm, ObjectsForm, Quiet, Yes

SUMMARY = "Delete an application from a cluster, with all its runs."
HELP = """Delete an application and everything that was applied for it, even if it is running.

The command first lists the objects that it will delete: all runs with their executors, files and permissions.
It keeps Secrets, claims and ConfigMaps that you created.

If Argo CD, Flux or Helm manages the application, delete the application there instead: otherwise, that tool
would create it again and start a new run.
"""
EXAMPLES = """\b
Examples:
  sparkgen delete pi -n analytics
  sparkgen delete pi --dry-run
  sparkgen delete pi --yes
"""


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An application.", show_default=False)],
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
    """Remove an application."""
    from sparkgen.cli import ending  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    place = Place(kubeconfig, context, namespace)
    options = ending.EndOptions(place, name, form=form.value, yes=yes, dry_run=dry_run, quiet=quiet)
    if code := ending.delete(options):
        raise typer.Exit(code)
