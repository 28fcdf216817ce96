"""`sparkgen render`: prints manifests, or writes them to a directory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import __version__
from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES, TARGET
from sparkgen.cli.problems import Stdin, say_of_others, show, valid_documents
from sparkgen.cli.request import Request, command_line
from sparkgen.errors import SparkgenError
from sparkgen.usecases.collisions import claims, shared_objects
from sparkgen.usecases.runtime import shared_by
from sparkgen.usecases.validate import agree

if TYPE_CHECKING:
    from sparkgen.writers.manifest import Bundle
    from sparkgen.writers.tree import Changes

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
  sparkgen render app.yaml | kubectl apply --server-side -f -
  sparkgen render app.yaml -o deploy/pi            # files to commit
  sparkgen render app.yaml -o deploy/pi --check    # in CI: is it up to date?
  sparkgen render app.yaml --target argocd -o deploy/pi
  sparkgen render apps/ -f prod.yaml -n prod -o deploy/prod
  sparkgen render -R apps -o deploy --check        # a whole repository
"""

_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


def render(request: Request) -> int:
    """Check documents, and render them to the output of the request.

    Returns 1 if they have errors, or if a directory is out of date.
    """
    from sparkgen.usecases.render import render_all  # noqa: PLC0415 - not for `validate`

    _check_options(request)
    if request.recursive:
        from sparkgen.cli.repository import render_repository  # noqa: PLC0415 - only for -R

        return render_repository(request)
    stdin = Stdin()
    documents = valid_documents(request, stdin)
    if documents is None:
        return 1
    agree(documents, request.namespace)
    with output.progress(len(documents)) as count:
        bundles = render_all(documents, request.namespace, count)
    if clashes := shared_objects(claims(documents, bundles)):
        show(clashes, request, stdin, on_stdout=False)
        return 1
    if not request.directory:
        return _print(bundles)
    return _compare(bundles, request) if request.only_check else _write(bundles, request)


def _check_options(request: Request) -> None:
    """Raise SparkgenError for wrong options: they are mistakes in the command, not in a document."""
    if request.only_check and not request.directory:
        raise SparkgenError("--check needs a directory to compare with; add --output-dir DIR")
    if request.directory == "-":
        raise SparkgenError("--output-dir - is not a directory; leave it out to print to standard output")
    if request.namespace and not _NAMESPACE.fullmatch(request.namespace):
        raise SparkgenError(
            f"--namespace {request.namespace!r} is not a valid namespace; "
            "use at most 63 lower-case letters, digits and dashes"
        )


def _print(bundles: Sequence[Bundle]) -> int:
    from sparkgen.writers.stream import stream  # noqa: PLC0415 - one of three outputs

    output.data(stream(bundles, shared_by(bundles)))
    return 0


def _write(bundles: Sequence[Bundle], request: Request) -> int:
    from sparkgen.writers.layout import layout  # noqa: PLC0415
    from sparkgen.writers.render_directory import write  # noqa: PLC0415

    files = layout(bundles, shared_by(bundles, request.directory), version=__version__)
    changes = write(Path(request.directory), files)
    if not request.quiet:
        output.note(_summary(request.directory, len(files), changes))
    return 0


def _summary(directory: str, total: int, changes: Changes) -> str:
    """Returns what was done: ``deploy/pi: 11 files, 2 written, 1 removed``."""
    if not changes:
        return f"{directory}: {total} files, all up to date"
    removed = f", {len(changes.stale)} removed" if changes.stale else ""
    return f"{directory}: {total} files, {len(changes.write)} written{removed}"


def _compare(bundles: Sequence[Bundle], request: Request) -> int:
    from sparkgen.writers.check import difference  # noqa: PLC0415
    from sparkgen.writers.layout import layout  # noqa: PLC0415

    files = layout(bundles, shared_by(bundles, request.directory), version=__version__)
    diff = difference(Path(request.directory), files)
    folders = {Path(request.directory, path).parent for path in files}
    overridden = say_of_others(request, {bundle.runtime for bundle in bundles}, folders)
    if diff:
        output.write(diff)
        output.note(f"{request.directory} is out of date; next: {command_line(request)}")
        return 1
    if not (request.quiet or overridden):
        output.note(f"{request.directory}: up to date")
    return 1 if overridden else 0


COMMAND = command(
    Request,
    render,
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
