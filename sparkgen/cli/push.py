"""Declares `sparkgen push` for typer; pushing.py does its work."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import CaFile, Lock, Quiet, Set, SetString, Sources, Values, requested

SUMMARY = "Push the local files that documents name to a registry."
HELP = """Push the files that documents name with ./ or ../ to the registry of `spec.delivery`.

The main file, pyFiles and files form one artifact, `code`. The jars, archives and the packages of a
requirements file form another artifact, `dependencies`. The same files give the same digest on every machine,
and the command uploads only what the registry does not have yet.

The command records what it pushed in a lock file beside each document: commit app.lock.yaml together with
app.yaml. render, diff, validate, lint and apply read the lock file and compare it with the local files.

The command asks the registry for every part of an artifact, and uploads again what the registry has lost.

Log in to the registry with docker, podman, helm or oras: sparkgen uses the credentials that they store. To
leave out files of a folder, list them in .sparkgenignore, in the syntax of .gitignore.
"""
EXAMPLES = """\b
Examples:
  sparkgen push app.yaml
  sparkgen push app.yaml --dry-run               # what would be pushed, and its digests
  sparkgen push app.yaml --verify                # also what was pushed before, byte for byte
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
        bool, typer.Option("--dry-run", help="Push and write nothing; print what would be pushed.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Download what the registry has, compare it, and push again what differs."
        ),
    ] = False,
    ca_file: CaFile = "",
    quiet: Quiet = False,
) -> None:
    """Push the local files of documents."""
    from sparkgen.cli import pushing  # noqa: PLC0415 - not for every command's help

    request = replace(requested(sources, values, sets, set_strings, lock=lock), quiet=quiet)
    if code := pushing.push(request, ca_file, dry_run=dry_run, verify=verify):
        raise typer.Exit(code)
