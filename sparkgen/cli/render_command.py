"""Runs `validate` and `render` on a request, and returns the exit code. Independent of typer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import __version__
from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.progress import progress
from sparkgen.cli.request import Request, command_line
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.usecases.checking import agree, check
from sparkgen.usecases.collisions import claims, shared_objects

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.writers.manifest import Bundle
    from sparkgen.writers.tree import Changes

_NAMESPACE = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


def validate(request: Request) -> int:
    """Check documents, and print their problems; 1 if there is an error, with --strict also for a warning."""
    stdin = Stdin()
    checked = check(request, stdin)
    problems = [*checked.problems, *([] if checked.errors else _shared(checked.documents, request))]
    show(_wanted(problems, request), request, stdin, on_stdout=True)
    if any(problem.severity is Severity.ERROR for problem in problems) or (request.strict and problems):
        return 1
    if not request.quiet and request.form in ("text", "concise"):
        number = len(checked.documents)
        output.write("1 document valid\n" if number == 1 else f"{number} documents valid\n")
    return 0


def render(request: Request) -> int:
    """Check documents, and render them to the output of the request.

    Returns 1 if they have errors, or if a directory is out of date.
    """
    from sparkgen.usecases.rendering import render_all  # noqa: PLC0415 - not for `validate`

    _check_options(request)
    if request.recursive:
        from sparkgen.cli.repository import render_repository  # noqa: PLC0415 - only for -R

        return render_repository(request)
    stdin = Stdin()
    checked = check(request, stdin)
    problems = _wanted(checked.problems, request)
    if problems:
        show(problems, request, stdin, on_stdout=False)
    if checked.errors:
        return 1
    agree(checked.documents, request.namespace)
    with progress(len(checked.documents)) as count:
        bundles = render_all(checked.documents, request.namespace, count)
    if clashes := shared_objects(claims(checked.documents, bundles)):
        show(clashes, request, stdin, on_stdout=False)
        return 1
    if not request.directory:
        return _print(bundles)
    return _compare(bundles, request) if request.only_check else _write(bundles, request)


def _shared(documents: Sequence[Document], request: Request) -> list[Problem]:
    """Returns a problem for each object that several of the documents would create."""
    from sparkgen.usecases.rendering import render_all  # noqa: PLC0415 - not for one document

    if len(documents) < 2:
        return []
    with progress(len(documents)) as count:
        return shared_objects(claims(documents, render_all(documents, request.namespace, count)))


def _wanted(problems: Sequence[Problem], request: Request) -> list[Problem]:
    """Returns the problems to show: --quiet hides warnings, unless --strict makes them count."""
    every = request.strict or not request.quiet
    return [problem for problem in problems if every or problem.severity is Severity.ERROR]


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

    output.data(stream(bundles))
    return 0


def _write(bundles: Sequence[Bundle], request: Request) -> int:
    from sparkgen.writers.layout import layout  # noqa: PLC0415
    from sparkgen.writers.render_directory import write  # noqa: PLC0415

    files = layout(bundles, version=__version__)
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

    diff = difference(Path(request.directory), layout(bundles, version=__version__))
    if diff:
        output.write(diff)
        output.note(f"{request.directory} is out of date; next: {command_line(request)}")
        return 1
    if not request.quiet:
        output.note(f"{request.directory}: up to date")
    return 0
