"""`sparkgen push`, as typer declares it. What it does is in pushing.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import CaFile, Lock, Quiet, Set, SetString, Sources, Values, requested

SUMMARY = "Push the files beside documents to a registry, for driver and executors."
HELP = """Pack the files that documents name with ./ or ../, and push them to the registry of `spec.delivery`.

The main file, pyFiles and files are one artifact, `code`; jars, archives and the packages of a requirements
file are another one, `dependencies`. The same files give the same digest on every machine, and the registry
gets only what it has not. What was pushed is written into a lock beside each document: commit app.lock.yaml
together with app.yaml. render, diff, validate, lint and apply read it, and compare it with the files.

Credentials are those of docker, podman, helm and oras: log in with any of them. .sparkgenignore says what of
a folder stays here, in the syntax of .gitignore.
"""
EXAMPLES = """\b
Examples:
  sparkgen push app.yaml
  sparkgen push app.yaml --dry-run               # what would be pushed, and its digests
  sparkgen push apps/ --ca-file registry-ca.pem
  sparkgen push app.yaml -f prod.yaml --lock app.prod.lock.yaml
"""


def command(
    sources: Sources,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Push and write nothing: say what would be pushed.")
    ] = False,
    ca_file: CaFile = "",
    quiet: Quiet = False,
) -> None:
    """Push the files beside documents."""
    from sparkgen.cli import pushing  # noqa: PLC0415 - not for every command's help

    request = replace(requested(sources, values, sets, set_strings, lock=lock), quiet=quiet)
    if code := pushing.push(request, ca_file, dry_run=dry_run):
        raise typer.Exit(code)
