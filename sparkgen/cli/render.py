"""Declares `sparkgen render` for typer; render_command.py does its work."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import (
    Colour,
    ColourChoice,
    Format,
    Lock,
    ProblemFormat,
    Quiet,
    Set,
    SetString,
    Sources,
    Target,
    Values,
    requested,
)
from sparkgen.cli.render_command import render

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


def command(
    sources: Sources,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    lock: Lock = "",
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NAME",
            help="Namespace for documents without one.",
            show_default=False,
        ),
    ] = "",
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Tool that applies the manifests. Overrides metadata.target.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
    directory: Annotated[
        str,
        typer.Option(
            "--output-dir",
            "-o",
            metavar="DIR",
            help="Write one file per object, and kustomization.yaml, to this directory.",
            show_default=False,
        ),
    ] = "",
    only_check: Annotated[
        bool,
        typer.Option(
            "--check",
            help=("Write nothing; print what -o DIR would change as a diff. Exit 1 if there are changes."),
        ),
    ] = False,
    recursive: Annotated[
        bool,
        typer.Option(
            "--recursive", "-R", help="Render all documents in the directory PATH, for all environments."
        ),
    ] = False,
    form: ProblemFormat = Format.TEXT,
    colour: ColourChoice = Colour.AUTO,
    quiet: Quiet = False,
) -> None:
    """Render documents to standard output or into a directory."""
    asked = requested(sources, values, sets, set_strings, form=form, colour=colour, target=target, lock=lock)
    request = replace(
        asked,
        quiet=quiet,
        namespace=namespace,
        directory=directory,
        only_check=only_check,
        recursive=recursive,
    )
    if code := render(request):
        raise typer.Exit(code)
