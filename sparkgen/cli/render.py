"""`sparkgen render`, as typer declares it. What it does is in render_command.py."""

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

SUMMARY = "Write a document's manifests, as a stream or into a directory."
HELP = """Render documents to Kubernetes manifests: to standard output, or with -o to one file per object.

Documents are checked first. An error stops the render and nothing is written; warnings go to standard
error. With -o, one application stands in DIR itself, several in a folder each. Files that did not change
are not touched, files of an earlier render that are needed no more are removed, files of others are kept.

With -R, PATH holds the documents of a whole repository, in folders. A file environments/NAME.yaml is an
overlay for all documents beside and below its folder; each document is rendered for every NAME on the way to
it, into NAME/FOLDER/APPLICATION below -o DIR, which holds nothing but such directories. A file .sparkgen-root
in DIR names PATH: the render of another directory would remove what is there, and is refused.
"""
EXAMPLES = """\b
Examples:
  sparkgen render app.yaml                         # a look at everything
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
            help="Namespace of documents that name none.",
            show_default=False,
        ),
    ] = "",
    target: Annotated[
        Target | None,
        typer.Option(
            "--target",
            help="Who applies the manifests; overrides metadata.target of the documents.",
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
            help="Write one file per object and kustomization.yaml here.",
            show_default=False,
        ),
    ] = "",
    only_check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing: print what -o DIR would change as a diff, exit 1 if anything."
        ),
    ] = False,
    recursive: Annotated[
        bool,
        typer.Option(
            "--recursive", "-R", help="PATH is a directory: render all documents in it, for all environments."
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
