"""`sparkgen validate`: prints the problems of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, COLOUR, LOCK, PROBLEM_FORMAT, QUIET, SOURCES
from sparkgen.cli.problems import Stdin, show, wanted
from sparkgen.cli.request import Request
from sparkgen.errors import Problem, Severity
from sparkgen.phrases import number_of
from sparkgen.usecases.collisions import claims, shared_objects
from sparkgen.usecases.validate import check

if TYPE_CHECKING:
    from sparkgen.document import Document

HELP = """Check documents, and report every problem with its line, what is allowed and what to do.

Problems go to standard output. Exits 1 if there is an error (with --strict, also for a warning).
`sparkgen rule CODE` explains a problem. To ignore a warning, add a comment at the end of the reported line:
`# sparkgen: ignore CODE -- reason`.
"""
EXAMPLES = """\b
Examples:
  sparkgen validate app.yaml
  sparkgen validate apps/ --strict
  sparkgen validate app.yaml -f prod.yaml --set spec.executor.instances=8
  sparkgen validate app.yaml --format github    # annotate a pull request
  cat app.yaml | sparkgen validate -
"""


def validate(request: Request) -> int:
    """Check documents, and print their problems; 1 if there is an error, with --strict also for a warning."""
    stdin = Stdin()
    checked = check(request, stdin)
    problems = [*checked.problems, *([] if checked.errors else _shared(checked.documents, request))]
    show(wanted(problems, request), request, stdin, on_stdout=True)
    if any(problem.severity is Severity.ERROR for problem in problems) or (request.strict and problems):
        return 1
    if not request.quiet and request.form == "text":
        output.write(f"{number_of(len(checked.documents), 'document')} valid\n")
    return 0


def _shared(documents: Sequence[Document], request: Request) -> list[Problem]:
    """Returns a problem for each object that several of the documents would create."""
    from sparkgen.usecases.render import render_all  # noqa: PLC0415 - not for one document

    if len(documents) < 2:
        return []
    with output.progress(len(documents)) as count:
        return shared_objects(claims(documents, render_all(documents, request.namespace, count)))


COMMAND = command(
    Request,
    validate,
    SOURCES,
    *CHANGES,
    LOCK,
    Option("strict", "--strict", "Exit 1 for warnings, too."),
    PROBLEM_FORMAT,
    COLOUR,
    QUIET,
)
