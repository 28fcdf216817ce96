"""Declares `sparkgen render`; render_command.py does its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.cli.option_table import Option, Work, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES, TARGET

if TYPE_CHECKING:
    from sparkgen.cli.request import Request

SUMMARY = "Render documents to Kubernetes manifests."
HELP = """Render documents to Kubernetes manifests: to standard output, or with -o to one file per object.

The command checks the documents first. If a document has an error, the command writes nothing. Warnings go to
standard error.

With -o, the manifests of a single application go to DIR itself. The manifests of several applications go to
one folder of DIR each. The command does not touch unchanged files or your own files. It removes files of an
earlier render that are no longer needed.

With -R, PATH is a repository with all documents, in folders. A file environments/NAME.yaml is an overlay for
all documents in its folder and below. Each document is rendered for every NAME that applies to it, to
NAME/FOLDER/APPLICATION below -o DIR. DIR must contain nothing else. The file .sparkgen-root in DIR records
PATH. If you render another directory to DIR later, sparkgen refuses, because it would remove the manifests of
the first directory.
"""
EXAMPLES = """\b
Examples:
  sparkgen render app.yaml                         # print all manifests
  sparkgen render app.yaml | kubectl apply -f -
  sparkgen render app.yaml -o deploy/pi            # files to commit
  sparkgen render app.yaml -o deploy/pi --check    # in CI: is it up to date?
  sparkgen render app.yaml --target argocd -o deploy/pi
  sparkgen render apps/ -f prod.yaml -n prod -o deploy/prod
  sparkgen render -R apps -o deploy --check        # a whole repository
"""


def _load() -> Work[Request]:
    from sparkgen.cli import render_command, request  # noqa: PLC0415 - not for every command's help

    return request.Request, render_command.render


COMMAND = command(
    _load,
    SOURCES,
    *CHANGES,
    LOCK,
    Option("namespace", "--namespace -n NAME", "Namespace for documents without one."),
    TARGET,
    Option(
        "directory",
        "--output-dir -o DIR",
        "Write one file per object, and kustomization.yaml, to this directory.",
    ),
    Option(
        "only_check",
        "--check",
        "Write nothing; print what -o DIR would change as a diff. Exit 1 if there are changes.",
    ),
    Option(
        "recursive", "--recursive -R", "Render all documents in the directory PATH, for all environments."
    ),
    PROBLEM_FORMAT,
    COLOUR,
    QUIET,
)
