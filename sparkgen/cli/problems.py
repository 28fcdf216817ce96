"""Prints problems: chooses the stream and the colours, and reads the lines that the problems are about."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen import __version__
from sparkgen.cli import output
from sparkgen.cli.request import Request
from sparkgen.errors import Problem, Severity
from sparkgen.usecases.validate import check

if TYPE_CHECKING:
    from sparkgen.document import Document

# Rules about secrets: a report never shows the lines with them.
_SECRET_RULES = frozenset({"SG117", "SG118"})


class Stdin:
    """Standard input: read when a document comes from it, and kept for excerpts."""

    def __init__(self) -> None:
        self.data = b""

    def __call__(self) -> bytes:
        """Returns the bytes of standard input."""
        from sparkgen.document.sources import read_stdin  # noqa: PLC0415 - the caller has it already

        if sys.stdin.isatty():
            output.note("reading a document from the terminal; press Ctrl-D to end it")
        self.data = read_stdin()
        return self.data


def wanted(problems: Sequence[Problem], request: Request) -> list[Problem]:
    """Returns the problems to show: --quiet hides warnings, unless --strict makes them count."""
    every = request.strict or not request.quiet
    return [problem for problem in problems if every or problem.severity is Severity.ERROR]


def valid_documents(request: Request, stdin: Stdin | None = None) -> tuple[Document, ...] | None:
    """Returns the documents of a request; None if one has errors. Prints their problems on standard error."""
    stdin = stdin or Stdin()
    checked = check(request, stdin)
    if shown := wanted(checked.problems, request):
        show(shown, request, stdin, on_stdout=False)
    return None if checked.errors else checked.documents


def show(problems: Sequence[Problem], request: Request, stdin: Stdin, *, on_stdout: bool) -> None:
    """Print a report of the problems in the chosen format."""
    if not problems and request.form == "text":
        return
    from sparkgen.reports import Context, Rule, report  # noqa: PLC0415 - only where there is something to say

    rules: dict[str, Rule] = {}
    if request.form == "sarif":
        from sparkgen.cli.rule import rules as pages  # noqa: PLC0415 - only SARIF carries them

        rules = pages()
    stream = sys.stdout if on_stdout else sys.stderr
    context = Context(
        lines=output.source_lines(stdin.data),
        colour=output.use_colour(request.colour, stream, os.environ),
        masked=_SECRET_RULES,
        rules=rules,
        version=__version__,
    )
    text = report(problems, request.form, context)
    if request.form != "text":  # whose values are escaped already
        output.data(text, stream)
        return
    (output.write if on_stdout else output.complain)(text, coloured=context.colour)


def say_of_others(request: Request, made: Collection[str], folders: Iterable[Path]) -> bool:
    """Print which files in the output directory another version made, and by which other tools change it.

    `made`: the names of the runtimes of this version. Returns whether a tool changes what it applies.
    """
    from sparkgen.usecases.runtime import not_made_here  # noqa: PLC0415 - only for a check
    from sparkgen.writers.manifest import KUSTOMIZATION  # noqa: PLC0415
    from sparkgen.writers.overrides import above, of_others, read_by_tools  # noqa: PLC0415

    root = Path(request.directory)
    folders = {*folders}
    changing = read_by_tools(root, folders) + above(root, folders)
    others = of_others(root, [folder / KUSTOMIZATION for folder in folders])
    for text in (*(not_made_here(request.directory, made) if not request.quiet else ()), *others, *changing):
        output.note(text)
    return bool(changing)
