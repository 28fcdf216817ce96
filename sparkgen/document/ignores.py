"""`# sparkgen: ignore SG117, SG118 -- reason`: a warning that somebody has looked at and wants to keep.

The comment stands at the end of the line that the warning is about, or alone on a line above it. Only
warnings can be ignored, and only with a reason. An ignore that is malformed, or that nothing needs any
more, is a warning too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.document.parse import COMMENT, Parsed
from sparkgen.document.text import lines_of, shortened
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_FORM = re.compile(r"ignore\s+(?P<codes>SG\d{3}(?:\s*,\s*SG\d{3})*)\s+--\s+(?P<reason>\S.*)")
_CODE = re.compile(r"SG\d{3}")
POLICY = "SG2"
"""What the codes of `sparkgen lint` begin with."""
_REASON = "why this is wanted here"

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


def find_ignores(
    parsed: Parsed, file: str, *, shared: bool = False
) -> tuple[tuple[Ignore, ...], tuple[Problem, ...]]:
    """The ignore comments of a file, and an SG018 warning for each one that is malformed."""
    if not COMMENT.search(parsed.text):
        return (), ()
    ignores: list[Ignore] = []
    problems: list[Problem] = []
    lines = lines_of(parsed.text)
    following = _lines_with_content(lines)
    for position, words in _comments(parsed, lines, file):
        form = _FORM.fullmatch(words)
        if form is None:
            problems.append(_malformed(words, position))
            continue
        alone = not lines[position.line - 1][: position.column - 1].strip()
        line = following[position.line] if alone else position.line
        codes = tuple(_CODE.findall(form["codes"]))
        ignores.append(Ignore(codes, form["reason"], line, position, shared))
    return tuple(ignores), tuple(problems)


def _comments(parsed: Parsed, lines: list[str], file: str) -> Iterator[tuple[Position, str]]:
    """Each comment that is meant for sparkgen: its place, and its words behind `sparkgen:`.

    A `#` inside of a quoted or a block text starts no comment.
    """
    starts = [start for start, _ in parsed.texts]
    for number, line in enumerate(lines, start=1):
        for found in COMMENT.finditer(line):
            place = (number, found.start() + 1)
            before = bisect_right(starts, place)
            if not before or place >= parsed.texts[before - 1][1]:
                yield Position(file, *place), found["text"].strip()


def _lines_with_content(lines: list[str]) -> list[int]:
    """The first line behind each line that holds more than a comment; behind none it is the last line."""
    following = [len(lines)] * (len(lines) + 1)
    for number in range(len(lines) - 1, -1, -1):
        text = lines[number].strip()
        following[number] = number + 1 if text and not text.startswith("#") else following[number + 1]
    return following


def _malformed(words: str, position: Position) -> Problem:
    codes = _CODE.findall(words)
    step = f"write: # sparkgen: ignore {', '.join(codes) or 'SG117'} -- {_REASON}"
    verb = words.split(maxsplit=1)[0] if words else ""
    if verb != "ignore":
        message = "a comment for sparkgen starts with `# sparkgen: ignore`"
    elif not codes:
        message = "this comment does not say which warning it ignores"
    elif "--" not in words:
        message = "this comment gives no reason, and so ignores nothing"
    else:
        message = "this comment cannot be read, and so ignores nothing"
    return _warning(position, message, step, shortened(f"# sparkgen: {words}".strip()))


def _warning(position: Position, message: str, step: str, found: str = "") -> Problem:
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
    return _warning(ignore.position, message, f"mend what {code} says, and take it out of this comment", code)


def _unused(code: str, ignore: Ignore) -> Problem:
    message = f"there is no {code} in line {ignore.line} to ignore"
    return _warning(
        ignore.position, message, "delete the comment, or move it to the line of the warning", code
    )
