"""`sparkgen delete`, as typer declares it. What it does is in ending.py."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli.options import Context, Kubeconfig, Namespace, ObjectForm, ObjectsForm, Quiet, Yes

SUMMARY = "Remove an application from a cluster: all of its runs, and all that was rendered for it."
HELP = """Remove an application: all of its runs, also one that runs, with executors, files and rights.

What it is about to delete is listed first. Secrets, claims and ConfigMaps that you made stay. An application
that Argo CD, Flux or Helm manages would come back, and run again: remove it there.
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be deleted.")] = False,
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
