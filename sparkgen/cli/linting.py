"""Runs `lint` on a request, and returns its exit code. Independent of typer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sparkgen.cli import fixing, output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.progress import progress
from sparkgen.cli.request import Request
from sparkgen.usecases import reviewing
from sparkgen.usecases.parallel import each
from sparkgen.usecases.reviewing import LintOptions, Review


def lint(request: Request, options: LintOptions, *, fix: bool = False, diff: bool = False) -> int:
    """Check documents, and print the findings; 1 if one counts, 2 if the configuration has errors.

    `fix`: apply the fixes first; `diff`: print the fixes as a difference, no findings, and 1 if there are
    any.
    """
    stdin = Stdin()
    review = reviewing.review_of(options)
    if isinstance(review, tuple):
        show(review, request, stdin, on_stdout=False)
        return 2
    if fix or diff:
        changed = fixing.fix_files(request, review, only_show=diff)
        if diff:
            return int(changed)
    return _report(request, review, stdin, fixed=fix)


def _report(request: Request, review: Review, stdin: Stdin, *, fixed: bool) -> int:
    findings = reviewing.lint(request, review, stdin, _each)
    wanted = findings.counted if request.quiet else findings.visible
    shown = [problem for problem in findings.found if problem in wanted | findings.counted]
    show(shown, request, stdin, on_stdout=True)
    if not request.quiet and request.form in ("text", "concise"):
        as_they_stand = not (fixed or request.values or request.target)
        number = sum(problem in findings.fixable for problem in shown) if as_they_stand else 0
        _say_rest(findings.documents, len(shown), number, len(findings.found) - len(shown))
    return int(bool(findings.counted))


def _each(function: Callable[[Any], Any], documents: Sequence[Any]) -> Iterable[Any]:
    with progress(len(documents), "reviewed") as count:
        yield from each(function, documents, count)


def _say_rest(documents: int, problems: int, fixable: int, hidden: int) -> None:
    if not problems:
        counted = f"{documents} {'document' if documents == 1 else 'documents'}"
        output.write(f"{counted} checked, no problems found\n")
    if fixable:
        output.note(f"{fixable} fixable; next: sparkgen lint --fix")
    if hidden:
        output.note(f"{hidden} hidden; to show {'it' if hidden == 1 else 'them'}: sparkgen lint --show info")
