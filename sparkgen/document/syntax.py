"""A YAML parser's error with the text around it, from which syntax_hints.py makes advice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.document.text import shortened, syntax_problem
from sparkgen.errors import Position, Problem

if TYPE_CHECKING:
    from yaml import YAMLError

_COMMENT = re.compile(r"\s#.*")


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parser's error.

    `problem` and `context`: its texts, in lower case. `at`: where it stopped. `start`: the start of the
    construct that it was reading, if the error has it; both in the text. `lines`: the whole text.
    `lines_above`: the number of lines above it in the file.
    """

    problem: str
    context: str
    at: Position
    start: Position | None
    lines: list[str]
    lines_above: int = 0

    @property
    def line(self) -> str:
        """The line in which the parser stopped."""
        return self.line_of(self.at)

    @property
    def character(self) -> str:
        """The character at which the parser stopped; "" at the end of a line."""
        return self.line[self.at.column - 1 : self.at.column]

    @property
    def before(self) -> str:
        """The text of the line before that character, without blanks at its end."""
        return self.line[: self.at.column - 1].rstrip()

    def line_of(self, place: Position) -> str:
        """The text of a position's line; "" after the end of the file."""
        return self.lines[place.line - 1] if place.line <= len(self.lines) else ""

    def character_at(self, place: Position) -> str:
        """The character at a position; "" at the end of a line."""
        return self.line_of(place)[place.column - 1 :][:1]

    def rest(self, place: Position) -> str:
        """The rest of the line from a position on, without a comment."""
        return without_comment(self.line_of(place)[place.column - 1 :])

    def number_of(self, place: Position) -> int:
        """The number of a position's line in the file."""
        return place.line + self.lines_above

    def column(self, number: int) -> Position:
        """A position in the line in which the parser stopped; columns count from 1."""
        return Position(self.at.file, self.at.line, number)

    def above(self) -> Position | None:
        """The last line before `at` with more than a comment; None if there is none."""
        for number in range(self.at.line - 1, 0, -1):
            text = self.lines[number - 1].strip()
            if text and not text.startswith("#"):
                return Position(self.at.file, number, 1)
        return None

    def problem_at(self, place: Position, message: str, next_step: str, found: str | None = None) -> Problem:
        """SG002 at a position; `found` is by default the position's line."""
        text = self.line_of(place).strip() if found is None else found
        return syntax_problem(place, message, next_step, shortened(text))


def read_error(error: YAMLError, lines: list[str], file: str, above: int = 0) -> Syntax | None:
    """The content of a PyYAML exception; None if it has no position."""
    at = _position(getattr(error, "problem_mark", None), file)
    start = _position(getattr(error, "context_mark", None), file)
    known = at or start
    if known is None:
        return None
    problem = str(getattr(error, "problem", None) or error).lower()
    context = str(getattr(error, "context", None) or "").lower()
    return Syntax(problem, context, _inside(known, lines), start, lines, above)


def _position(mark: Any, file: str) -> Position | None:
    return None if mark is None else Position(file, mark.line + 1, mark.column + 1)


def _inside(place: Position, lines: list[str]) -> Position:
    """The position itself, or the end of the last line with text if it is after the end of the file."""
    if place.line < len(lines) or (place.line == len(lines) and lines[-1]):
        return place
    number = len(lines)
    while number > 1 and not lines[number - 1].strip():
        number -= 1
    return Position(place.file, number, len(lines[number - 1]) + 1)


def without_comment(text: str) -> str:
    """The value without the comment after it, and without blanks around it."""
    return _COMMENT.sub("", text).strip()


def quoted(value: str) -> str:
    """The text in quotes, as you would write it in YAML; a long text is cut."""
    value = shortened(value)
    if "\\" in value or '"' in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'
