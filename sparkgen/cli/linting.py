"""Runs `lint`, and returns its exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen.cli import fixing, output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.progress import progress
from sparkgen.cli.request import Request
from sparkgen.usecases import reviewing
from sparkgen.usecases.parallel import each
from sparkgen.usecases.reviewing import LintOptions, Review


@dataclass(frozen=True, slots=True)
class Lint(Request):
    """The documents, and the options of `lint`, of which LintOptions says what they mean.

    `fix`: apply the fixes first; `diff`: print the fixes as a difference, and no findings.
    """

    profiles: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    fail_on: str = ""
    show: str = ""
    fix: bool = False
    diff: bool = False
    config: str = ""
    isolated: bool = False
    evidence: tuple[str, ...] = ()


def lint(options: Lint) -> int:
    """Check documents, and print the findings.

    Returns 1 if a finding counts, or with `diff` if there are fixes; 2 if the configuration has errors.
    """
    stdin = Stdin()
    review = reviewing.review_of(
        LintOptions(
            options.profiles,
            options.rules,
            options.fail_on,
            options.show,
            options.config,
            options.isolated,
            options.evidence,
        )
    )
    if isinstance(review, tuple):
        show(review, options, stdin, on_stdout=False)
        return 2
    if options.fix or options.diff:
        changed = fixing.fix_files(options, review, only_show=options.diff)
        if options.diff:
            return int(changed)
    return _report(options, review, stdin, fixed=options.fix)


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
