"""`sparkgen delete`: asks for confirmation, and deletes applications."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from sparkgen.cli import listing, output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import OBJECTS_OUTPUT, PLACE, QUIET, YES
from sparkgen.cli.request import EndOptions
from sparkgen.cluster import connect
from sparkgen.usecases import delete as usecase

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions(EndOptions):
    """The applications to delete; `dry_run`: only list what would be deleted."""

    names: tuple[str, ...]
    dry_run: bool


def delete(options: DeleteOptions) -> int:
    """Delete all objects of applications; 1 if the user says no, 2 if an application cannot be found."""
    cluster = connect(options.place)
    to_delete, problems = usecase.applications(cluster, options.names)
    for text in problems:
        output.say(text)
    if problems:
        return 2
    for text in dict.fromkeys(text for each in to_delete.values() for text in each.unseen):
        output.note(f"not checked: {text}")
    objects = [item for each in to_delete.values() for item in each.objects]
    if options.dry_run:
        listing.show_objects(objects, options.output, "(dry run)")
        return 0
    for name, each in to_delete.items():
        if each.controllers:
            output.note(
                f"warning: {' and '.join(each.controllers)} manages {name}, and will create it "
                "again and start a new run; delete it there instead"
            )
    if not options.yes and sys.stdin.isatty():
        output.complain("".join(f"  {listing.full_name(item)}\n" for item in objects))
    shown = "this 1 object" if len(objects) == 1 else f"these {len(objects)} objects"
    question = f"delete {shown} of {' and '.join(to_delete)} in {cluster.namespace} ({cluster.context})?"
    if not output.confirmed(question, yes=options.yes):
        return 1
    usecase.delete(cluster, objects, lambda gone: listing.show_objects(gone, options.output, "deleted"))
    for name in usecase.unused_runtimes(cluster) if not options.quiet else ():
        output.note(
            f"no application in {cluster.namespace} uses {name} any more; to delete it: "
            f"kubectl delete configmap {name} -n {cluster.namespace}"
        )
    return 0


COMMAND = command(
    DeleteOptions,
    delete,
    Option("names", "NAME", "Applications.", many=True, required=True),
    YES,
    Option("dry_run", "--dry-run", "List what would be deleted, and delete nothing."),
    *PLACE,
    OBJECTS_OUTPUT,
    QUIET,
)
