"""`sparkgen render -R DIR`: renders all documents of a repository, for all environments, in one call.

First, every application is checked, rendered and compared with its directory. Then, changed files are
written. If there is an error anywhere, nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, say_of_others, show, wanted
from sparkgen.cli.request import Request, command_line
from sparkgen.document.environments import parts
from sparkgen.errors import REPORT_IT, Severity, SparkgenError
from sparkgen.phrases import number_of, some_of
from sparkgen.usecases.repository import (
    Failure,
    Rendered,
    Repository,
    problems_of,
    refuse_shared_places,
    render_parts,
    render_shared,
)

if TYPE_CHECKING:
    from sparkgen.writers.tree import Changes


_SHOWN = 4
"""The number of files that are named if a directory is out of date; the diff has all of them."""


def render_repository(request: Request) -> int:
    """Render or check a whole repository; 1 if documents have errors or a directory is out of date."""
    root = _root(request)
    todo = parts(root, request.directory)
    if not todo:
        raise SparkgenError(f"no sparkgen document in {root} or below (only *.yaml and *.yml files are read)")
    with output.progress(len(todo)) as count:
        repository = Repository(request, request.directory, request.namespace, request.only_check)
        outcomes = render_parts(repository, todo, count)
    all_problems = problems_of(outcomes)
    problems = wanted(all_problems, request)
    if problems:
        show(problems, request, Stdin(), on_stdout=False)
    if failures := [outcome.failure for outcome in outcomes if outcome.failure]:
        return _failed(failures)
    if any(problem.severity is Severity.ERROR for problem in problems):
        output.note("nothing was written; fix the errors in all documents first")
        return 1
    rendered = [one for outcome in outcomes for one in outcome.rendered]
    rendered += render_shared(repository, outcomes)
    refuse_shared_places(rendered)
    from sparkgen.writers import leftovers  # noqa: PLC0415 - only for a whole repository
    from sparkgen.writers.root import refuse_other  # noqa: PLC0415

    places = {one.place for one in rendered}
    stale = leftovers.find(Path(request.directory), places)
    refuse_other(Path(request.directory), Path(root), places, stale)
    if not request.only_check:
        return _write(rendered, stale, request)
    made = {name for one in outcomes for _, (_, name) in one.runtimes}
    overridden = say_of_others(request, made, {Path(request.directory, place) for place in places})
    return _check(rendered, stale, request, overridden=overridden)


def _failed(failures: Sequence[Failure]) -> int:
    """Print the internal errors, each with its file; 2, and nothing is written."""
    for failure in dict.fromkeys(failures):
        if os.environ.get("SPARKGEN_DEBUG"):
            output.complain(failure.traceback)
        output.fail(f"{failure.file}: internal error ({failure.reason})")
    output.note(f"nothing was written; all other documents were checked. {REPORT_IT}")
    return 2


def _root(request: Request) -> str:
    """Returns the request's only directory. Raises SparkgenError without it, or without an output."""
    if len(request.sources) != 1 or request.sources[0] == "-":
        raise SparkgenError(
            "-R takes one directory that contains all documents: sparkgen render -R DIR -o OUT"
        )
    if not request.directory:
        raise SparkgenError("-R needs a directory to write to or compare with; add --output-dir OUT")
    return request.sources[0]


def _write(rendered: Sequence[Rendered], stale: Sequence[str], request: Request) -> int:
    """Write what changed, remove what no document renders any more, and print what was done."""
    from sparkgen.writers import leftovers  # noqa: PLC0415 - see usecases/validate.py
    from sparkgen.writers.render_directory import write  # noqa: PLC0415
    from sparkgen.writers.root import mark  # noqa: PLC0415

    written = [application for application in rendered if application.files]
    mark(Path(request.directory), Path(request.sources[0]))
    for application in written:
        write(Path(request.directory), application.files, below=application.place)
        _say(f"{request.directory}/{application.place}: {_why(application.changes)}", request)
    for place in stale:
        leftovers.remove(Path(request.directory), place)
        _say(f"{request.directory}/{place}: removed, as no document renders to it", request)
    gone = f", {len(stale)} removed" if stale else ""
    applications = number_of(len(rendered), "application")
    current = len(rendered) - len(written)
    _say(f"{applications}: {current} up to date, {len(written)} written{gone}", request)
    return 0


def _check(rendered: Sequence[Rendered], stale: Sequence[str], request: Request, *, overridden: bool) -> int:
    """Print the differences as a diff, and why each application is out of date. Returns the exit code.

    `overridden`: whether another tool changes what it applies, which has been printed.
    """
    late = [application for application in rendered if application.files]
    if not late and not stale:
        if not overridden:
            _say(f"{request.directory}: {number_of(len(rendered), 'application')}, all up to date", request)
        return int(overridden)
    output.write("".join(application.difference for application in late))
    for application in late:
        output.note(f"{request.directory}/{application.place} is out of date: {_why(application.changes)}")
    for place in stale:
        output.note(f"{request.directory}/{place} is out of date: no document renders to it")
    number = len(late) + len(stale)
    which = "1 directory is" if number == 1 else f"{number} directories are"
    output.note(f"{which} out of date; next: {command_line(request)}")
    return 1


def _say(text: str, request: Request) -> None:
    if not request.quiet:
        output.note(text)


def _why(changes: Changes) -> str:
    """Returns which files are new, differ or are removed: ``job.yaml differs, role.yaml is new``."""
    words = [
        *(f"{path} {'differs' if path in changes.old else 'is new'}" for path in changes.write),
        *(f"{path} is no longer needed" for path in changes.stale),
    ]
    if changes.write and not changes.old:
        return f"all its {len(changes.write)} files are new"
    return some_of(words, _SHOWN)
