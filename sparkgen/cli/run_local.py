"""Runs `run --local`: a document's application as processes of this machine."""

from __future__ import annotations

import os
import random
import sys
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkgen.cli import output
from sparkgen.cli.problems import valid_documents
from sparkgen.cli.request import ProgramOptions, Request
from sparkgen.delivery import environment
from sparkgen.delivery.in_place import in_place as placed
from sparkgen.errors import Path, SparkgenError, path_text
from sparkgen.local import plan
from sparkgen.local import run as processes
from sparkgen.local.application import application_of
from sparkgen.local.ignored_fields import ignored_fields
from sparkgen.semantics.local_entries import concerned
from sparkgen.usecases import local_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkgen.document import Document
    from sparkgen.local.view import View


def run(options: ProgramOptions, maps: tuple[str, ...]) -> int:
    """Run an application until it ends. Returns the driver's exit code; 1 if the document has errors.

    `maps`: PATH=FOLDER.
    """
    request = replace(options.request, local_files="present")
    document = one_document(request, options.name)
    return 1 if document is None else _run(document, request, options.arguments, maps)


def one_document(request: Request, name: str) -> Document | None:
    """Returns the document to run; None if it has errors. Prints its problems."""
    documents = valid_documents(request)
    return None if documents is None else _picked(documents, name)


def _picked(documents: Sequence[Document], name: str) -> Document:
    """Returns the document with this name, or the only one. Raises SparkgenError if neither is possible."""
    by_name: dict[str, Document] = {document.value["metadata"]["name"]: document for document in documents}
    if name:
        if name not in by_name:
            raise SparkgenError(f"no application is called {name}; available: {', '.join(by_name)}")
        return by_name[name]
    if len(documents) != 1:
        raise SparkgenError(f"there are several applications; choose one with --name: {', '.join(by_name)}")
    return documents[0]


def _run(document: Document, request: Request, arguments: tuple[str, ...], maps: tuple[str, ...]) -> int:
    on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    view = _view(on_terminal=on_terminal)
    value, python_path = in_place(document, request, view)
    application = application_of(value, arguments)
    if not request.quiet:
        tell_left_aside(document, ignored_fields(document.value), "on this machine")
    folder = local_files.folder_of(document)
    places = plan.LocalRun(application, folder, maps, dict(os.environ), python_path)
    prepared = plan.make(places, lambda: str(uuid.uuid4()), random.Random(), view)  # noqa: S311 - ports
    return processes.run(prepared, view, on_terminal=on_terminal)


def in_place(document: Document, request: Request, view: View) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Returns a document with the places of its local files, and the folders that Python needs for them.

    Installs the packages of its requirements into the user's cache, for the Python of this machine.
    """
    if not concerned(document.value):
        return document.value, ()
    looked = local_files.found(document, request)
    placed_document = placed(document.value, looked, local_files.folder_of(document))
    packages = tuple(
        str(environment.built(environment.of_this_machine(one.requirements, os.environ), os.environ, view))
        for one in looked.contents
        if one.requirements is not None
    )
    return placed_document.value, (*placed_document.python_path, *packages)


def _view(*, on_terminal: bool) -> View:
    from sparkgen.local.view import Plain  # noqa: PLC0415

    if not on_terminal:
        return Plain(sys.stderr)
    from rich.console import Console  # noqa: PLC0415 - rich takes a while to import

    from sparkgen.local.live import Terminal  # noqa: PLC0415

    return Terminal(Console(stderr=True))


def tell_left_aside(document: Document, found: Sequence[tuple[Path, str]], where: str) -> None:
    """Print fields of a document that have no meaning there, each with what happens instead."""
    if not found:
        return
    output.note(f"ignored, because they have no meaning {where}:")
    for path, why in found:
        output.note(f"  {document.node.locate_key(path)}: {path_text(path)}: {why}")
