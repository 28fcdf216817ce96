"""`# sparkgen: ignore SG117, SG118 -- reason`: hides warnings about something that the author wants to keep.

The comment is at the end of the line that the warning is about, or alone on a line above it. Only warnings
can be ignored, and only with a reason. A malformed comment causes a warning itself, and so does a comment
whose warning no longer exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

POLICY = "SG2"
"""The prefix of the codes of `sparkgen lint`."""

ENDED: Mapping[str, str] = {
    "SG133": "SG189",
    "SG148": "SG189",
    "SG151": "SG161",
    "SG202": "SG323",
    "SG208": "SG207",
    "SG274": "SG258",
    "SG302": "SG199",
    "SG311": "SG189",
    "SG315": "SG314",
}
"""Code that no rule has any more -> the code that took its place, for comments and policies of before."""

_Key = tuple[str, int, str]
"""File, line and code, by which an ignore comment matches a warning."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """An ignore comment: `codes` and `reason` as written, the `line` that it applies to, and its position.

    `shared`: it is in an overlay, so not every document needs to have its warning.
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
    """Split the problems of a document into those that remain and those that its comments ignore.

    The remaining ones include an SG018 warning for each comment that names an error, and for each comment in
    the document itself that ignores nothing. The latter only if all problems are warnings: after an error,
    later checks did not run. `policy`: the rules of `sparkgen lint` ran too; otherwise comments about their
    codes are skipped.
    """
    wanted = {
        (ignore.position.file, ignore.line, ENDED.get(code, code)): (ignore, code)
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
    for key, (ignore, code) in wanted.items():
        if key in refused:
            kept.append(_not_ignorable(code, ignore))
        elif key in idle and complete and not ignore.shared:
            kept.append(_unused(code, ignore))
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
