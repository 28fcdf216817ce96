"""`# sparkgen: ignore SG117, SG118 -- reason`: a warning that somebody has looked at and wants to keep.

The comment stands at the end of the line that the warning is about, or alone on a line above it. Only
warnings can be ignored, and only with a reason. An ignore that is malformed, or that nothing needs any
more, is a warning too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

POLICY = "SG2"
"""What the codes of `sparkgen lint` begin with."""

_Key = tuple[str, int, str]
"""What an ignore and a warning have in common: file, line and code."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """An ignore comment: `codes` and `reason` as written, the `line` it applies to, and where it stands.

    `shared`: it stands in an overlay, so that it need not be of use to every document.
    """

    codes: tuple[str, ...]
    reason: str
    line: int
    position: Position
    shared: bool = False


def comment_warning(position: Position, message: str, step: str, found: str = "") -> Problem:
    """A warning about an ignore comment."""
    return Problem("SG018", Severity.WARNING, position, (), message, found=found, next_step=step)


def apply_ignores(
    problems: Sequence[Problem], ignores: Iterable[Ignore], *, policy: bool = False
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Split the problems of a document into those that stay and those that its comments ignore.

    Added to those that stay: an SG018 warning for an ignore that names an error, and one for an ignore of
    the document's own that nothing needed. The latter only if there is no error: after one, later checks
    did not run. `policy`: the rules of `sparkgen lint` were asked too; else comments about them wait for it.
    """
    wanted = {
        (ignore.position.file, ignore.line, code): ignore
        for ignore in ignores
        for code in ignore.codes
        if policy or not code.startswith(POLICY)
    }
    kept: list[Problem] = []
    ignored: list[Problem] = []
    refused: set[_Key] = set()
    for problem in problems:
        key = _key(problem)
        if key in wanted and problem.severity is Severity.WARNING:
            ignored.append(problem)
            continue
        kept.append(problem)
        if key in wanted:
            refused.add(key)
    idle = set(wanted) - refused - {_key(problem) for problem in ignored}
    complete = all(problem.severity is Severity.WARNING for problem in problems)
    for key, ignore in wanted.items():
        if key in refused:
            kept.append(_not_ignorable(key[2], ignore))
        elif key in idle and complete and not ignore.shared:
            kept.append(_unused(key[2], ignore))
    return tuple(kept), tuple(ignored)


def _key(problem: Problem) -> _Key:
    return (problem.position.file, problem.position.line, problem.code)


def _not_ignorable(code: str, ignore: Ignore) -> Problem:
    message = f"{code} is an error, and errors cannot be ignored"
    return comment_warning(
        ignore.position, message, f"fix the error, and remove {code} from this comment", code
    )


def _unused(code: str, ignore: Ignore) -> Problem:
    message = f"there is no {code} on line {ignore.line} to ignore"
    return comment_warning(
        ignore.position, message, "delete the comment, or move it to the line of the warning", code
    )
