"""What `lint` does, from a request to an exit code. Knows no command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.cli import output
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.progress import progress
from sparkgen.cli.request import Request
from sparkgen.document.configuration import Configured
from sparkgen.document.sources import read_file
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.lint import PROFILES, Config, Policy
from sparkgen.lint.config import OFF
from sparkgen.lint.configfile import NEVER, SEVERITIES, configurable, read_config
from sparkgen.lint.fix import edits_of
from sparkgen.lint.registry import check as review
from sparkgen.lint.registry import check_together as review_together
from sparkgen.semantics.wording import listed
from sparkgen.usecases import configuration
from sparkgen.usecases.checking import check, examine
from sparkgen.usecases.parallel import each

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.lint.findings import Edit

    Found = tuple[Problem, tuple[Edit, ...]]

_RANK = {severity: rank for rank, severity in enumerate(SEVERITIES.values())}


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of `lint` beside those of `validate`, as they were written; "" where one was not given."""

    profiles: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    fail_on: str = ""
    show: str = ""
    config: str = ""
    isolated: bool = False
    fix: bool = False
    diff: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """A policy, the folder that its patterns are relative to, and what its file says about documents."""

    policy: Policy
    folder: str
    configured: Configured = field(default_factory=Configured)

    def find(self, document: Document) -> list[Found]:
        """All that can be said about a document, and the edits that would end it if it is valid."""
        problems = examine(document)
        if any(problem.severity is Severity.ERROR for problem in problems):
            return [(problem, ()) for problem in problems]
        told = [(problem, edits_of(problem, document)) for problem in (*document.warnings, *problems)]
        return [*told, *review(document, self.policy.config.settings)]

    def weighed(self, problem: Problem, file: str) -> Problem | None:
        """A problem with the severity that the policy gives it; None for one that it does not look for."""
        if problem.severity is Severity.ERROR:
            return problem
        path = os.path.relpath(os.path.realpath(file), self.folder).replace(os.sep, "/")
        severity = self.policy.levels(path).get(problem.code)
        return None if severity is None else replace(problem, severity=severity)


def lint(request: Request, wishes: Wishes) -> int:
    """Review documents and print what is found to standard output; 1 if anything counts."""
    stdin = Stdin()
    made = _review(request, wishes, stdin)
    if made is None:
        return 2
    request = replace(request, configured=made.configured)
    if wishes.fix or wishes.diff:
        from sparkgen.cli import fixing  # noqa: PLC0415 - only where files are to change

        changed = fixing.fix_files(request, made, only_show=wishes.diff)
        if wishes.diff:
            return int(changed)
    return _report(request, made, stdin, fixed=wishes.fix)


def _report(request: Request, made: Review, stdin: Stdin, *, fixed: bool) -> int:
    sources: dict[Problem, str] = {}
    fixable: set[Problem] = set()

    def policy(documents: Sequence[Document]) -> Iterable[list[Problem]]:
        with progress(len(documents), "reviewed") as count:
            reviewed = _together(documents, list(each(made.find, documents, count)))
        for document, found in zip(documents, reviewed, strict=True):
            for problem, edits in found:
                sources.setdefault(problem, document.source)
                if edits:
                    fixable.add(problem)
            own = set(document.warnings)
            yield [problem for problem, _ in found if problem not in own]

    checked = check(request.inputs, stdin, policy)
    weighed = [
        (problem, made.weighed(problem, sources.get(problem, problem.position.file)))
        for problem in checked.problems
    ]
    found = {final: problem for problem, final in weighed if final is not None}
    least = made.policy.config.fail_on
    counted = {problem for problem in found if _counts(problem, found[problem], least)}
    lowest = _RANK[made.policy.config.show]
    wanted = counted if request.quiet else {problem for problem in found if _RANK[problem.severity] >= lowest}
    shown = [problem for problem in found if problem in wanted | counted]
    show(shown, request, stdin, on_stdout=True)
    if not request.quiet and request.form in ("text", "concise"):
        number = (
            0
            if fixed or request.values or request.target
            else sum(found[problem] in fixable for problem in shown)
        )
        _say_rest(len(checked.documents), len(shown), number, len(found) - len(shown))
    return int(bool(counted))


def _together(documents: Sequence[Document], reviewed: Sequence[list[Found]]) -> list[list[Found]]:
    """What was found in each document, and what all valid ones show together."""
    valid = [
        index
        for index, found in enumerate(reviewed)
        if not any(problem.severity is Severity.ERROR for problem, _ in found)
    ]
    result = [list(found) for found in reviewed]
    for index, problem in review_together([documents[place] for place in valid]):
        result[valid[index]].append((problem, ()))
    return result


def _counts(problem: Problem, original: Problem, least: Severity | None) -> bool:
    """Whether a finding makes the command fail: what is not valid always does."""
    if original.severity is Severity.ERROR:
        return True
    return least is not None and _RANK[problem.severity] >= _RANK[least]


def _say_rest(documents: int, problems: int, fixable: int, hidden: int) -> None:
    if not problems:
        more = " that counts" if hidden else ""
        output.write(f"{documents} document{'s' if documents != 1 else ''}, nothing found{more}\n")
    if fixable:
        output.note(f"{fixable} can be put right by: sparkgen lint --fix")
    if hidden:
        output.note(f"{hidden} more would be shown by: sparkgen lint --show info")


def _review(request: Request, wishes: Wishes, stdin: Stdin) -> Review | None:
    """The policy of a call; None if its configuration is wrong, which has been said then."""
    name = wishes.config or ("" if wishes.isolated else configuration.found())
    if wishes.config and wishes.isolated:
        raise SparkgenError("--config and --isolated exclude each other: leave one of them out")
    read: Config | tuple[Problem, ...] = Config()
    if name:
        data = read_file(name)
        read = (data,) if isinstance(data, Problem) else read_config(data, name)
    if isinstance(read, tuple):
        show(read, request, stdin, on_stdout=False)
        return None
    if wishes.fail_on:
        read = replace(read, fail_on=_severity("--fail-on", wishes.fail_on, NEVER))
    if wishes.show:
        read = replace(read, show=_severity("--show", wishes.show) or read.show)
    unknown = [profile for profile in wishes.profiles if profile not in PROFILES]
    if unknown:
        raise SparkgenError(f"there is no profile {unknown[0]}: use {', '.join(PROFILES)}")
    rules = dict(_rule(text) for text in wishes.rules)
    folder = os.path.realpath(Path(name).parent if name else ".")
    return Review(Policy(read, wishes.profiles, rules), folder, configuration.read(name))


def _rule(text: str) -> tuple[str, Severity | None]:
    code, equals, word = text.partition("=")
    code = code.strip().upper()
    if not equals:
        raise SparkgenError(f"--rule {text} says no severity: write --rule {code or 'SG220'}={OFF}")
    if code not in configurable():
        raise SparkgenError(
            f"--rule {text}: {code or 'nothing'} is no warning: `sparkgen rule` lists them; errors stay"
        )
    return code, _severity("--rule", word.strip(), OFF)


def _severity(option: str, word: str, *nothing: str) -> Severity | None:
    allowed = (*SEVERITIES, *nothing)
    if word.lower() not in allowed:
        raise SparkgenError(f"{option}: {word!r} is no severity: use {listed(allowed, 'or')}")
    return SEVERITIES.get(word.lower())
