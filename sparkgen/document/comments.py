"""Finds the ignore comments in a file's text, and checks their form."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from sparkgen.document.ignores import Ignore, comment_warning
from sparkgen.document.parse import COMMENT, Parsed
from sparkgen.document.text import lines_of, shortened
from sparkgen.errors import Position, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORM = re.compile(r"ignore\s+(?P<codes>SG\d{3}(?:\s*,\s*SG\d{3})*)\s+--\s+(?P<reason>\S.*)")
_CODE = re.compile(r"SG\d{3}")
_REASON = "why this is intended here"


def find_ignores(
    parsed: Parsed, file: str, *, shared: bool = False
) -> tuple[tuple[Ignore, ...], tuple[Problem, ...]]:
    """The ignore comments of a file, and an SG018 warning for each malformed comment."""
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
    """Position and text (after `sparkgen:`) of each comment for sparkgen.

    A `#` inside a quoted string or a block scalar does not start a comment.
    """
    starts = [start for start, _ in parsed.texts]
    for number, line in enumerate(lines, start=1):
        for found in COMMENT.finditer(line):
            place = (number, found.start() + 1)
            before = bisect_right(starts, place)
            if not before or place >= parsed.texts[before - 1][1]:
                yield Position(file, *place), found["text"].strip()


def _lines_with_content(lines: list[str]) -> list[int]:
    """For each line number, the next line with more than a comment; the last line if there is none."""
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
        message = "this comment does not name the warning that it ignores"
    elif "--" not in words:
        message = "this comment has no reason, so it is not applied"
    else:
        message = "this comment cannot be parsed, so it is not applied"
    return comment_warning(position, message, step, shortened(f"# sparkgen: {words}".strip()))
