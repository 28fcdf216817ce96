"""Declares `sparkgen push`; pushing.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import CA_FILE, CHANGES, LOCK, QUIET, SOURCES

if TYPE_CHECKING:
    from sparkgen.cli.pushing import Push

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


def _load() -> Work[Push]:
    from sparkgen.cli import pushing  # noqa: PLC0415 - not for every command's help

    return pushing.Push, pushing.push


COMMAND = command(
    _load,
    SOURCES,
    *CHANGES,
    LOCK,
    Option("dry_run", "--dry-run", "Push and write nothing; print what would be pushed."),
    Option("verify", "--verify", "Download what the registry has, compare it, and push again what differs."),
    CA_FILE,
    QUIET,
)
