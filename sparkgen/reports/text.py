"""Problems as text for people: a line that editors can jump to, the source line, and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from sparkgen.errors import Path, Problem, Severity, path_text
from sparkgen.phrases import number_of
from sparkgen.reports.context import Context
from sparkgen.terminal import visible

_WIDTH = 100
_LONGEST_VALUE = 160

_BOLD, _RED, _YELLOW, _BLUE, _CYAN = "1", "1;31", "1;33", "1;34", "1;36"
_TONES = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW, Severity.INFO: _CYAN}


def as_text(problems: Sequence[Problem], context: Context) -> str:
    """All problems and a line that counts them; "" if there are none.

    Below each problem are the source line with a mark, what was found, what is allowed, and what to do next.
    """
    if not problems:
        return ""
    hidden = {(p.position.file, p.position.line) for p in problems if p.code in context.masked}
    blocks = []
    for problem in problems:
        secret = (problem.position.file, problem.position.line) in hidden
        excerpt = [] if secret else _excerpt(problem, context)
        lines = [_headline(problem, context.colour), *excerpt, *_details(problem, context.colour)]
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, summary(problems)]) + "\n"


def summary(problems: Iterable[Problem]) -> str:
    """The number of problems: ``2 errors and 1 warning in 1 file``."""
    found = list(problems)
    files = len({problem.position.file for problem in found})
    numbers = {severity: sum(problem.severity is severity for problem in found) for severity in Severity}
    parts = [number_of(number, severity.value) for severity, number in numbers.items() if number]
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"{listed} in {number_of(files, 'file')}"


def _headline(problem: Problem, colour: bool) -> str:
    tone = _TONES[problem.severity]
    place = _paint(visible(str(problem.position)), _BOLD, colour)
    label = _paint(f"{problem.severity.value}[{problem.code}]", tone, colour)
    return f"{place}: {label} {_where(problem.path)}{visible(problem.message)}"


def _where(path: Path) -> str:
    return f"{visible(path_text(path))}: " if path else ""


def _details(problem: Problem, colour: bool) -> Iterator[str]:
    for label, value in (
        ("found:  ", problem.found),
        ("allowed:", problem.allowed),
        ("next:   ", problem.next_step),
    ):
        if value:
            shown = visible(value)
            cut = f"{shown[:_LONGEST_VALUE]}..." if len(shown) > _LONGEST_VALUE else shown
            yield f"  {_paint(label, _BOLD, colour)} {cut}"


def _excerpt(problem: Problem, context: Context) -> Iterator[str]:
    """The source line, and a line with a mark below the value that the problem is about."""
    position = problem.position
    line = context.lines(position.file, position.line)
    if not line.strip():
        return
    token = _token(line[position.column - 1 :], problem.found)
    # Of a long line, only what may be shown is measured: a document may be one line with many problems.
    left = max(0, position.column - 1 - 2 * _WIDTH)
    before = line[left : position.column - 1]
    line = line[left : left + 4 * _WIDTH]
    shown, start = _window(visible(line), _columns(visible(before)))
    marks = "^" * max(1, min(_columns(visible(token)), _columns(shown) - start))
    number = str(position.line)
    gutter = _paint(f"  {number} |", _BLUE, context.colour)
    empty = _paint(f"  {' ' * len(number)} |", _BLUE, context.colour)
    tone = _TONES[problem.severity]
    yield f"{gutter} {shown}".rstrip()
    yield f"{empty} {' ' * start}{_paint(marks, tone, context.colour)}"


def _token(rest: str, found: str) -> str:
    """The value at the position as found, with its quotes; "" if the text there does not start with it."""
    quotes = ("", '"', "'")
    return next((q + found + q for q in quotes if found and rest.startswith(q + found)), "")


def _window(shown: str, start: int) -> tuple[str, int]:
    """The part of a long line around a column, and the column's place in this part."""
    if _columns(shown) <= _WIDTH:
        return shown, start
    first = max(0, start - _WIDTH // 2)
    # The line is cut by characters: with wide characters the part is a little wider, and the mark is still
    # at the right place.
    left = _index(shown, first)
    lead = "... " if left else ""
    part = shown[left : left + _WIDTH]
    tail = " ..." if left + _WIDTH < len(shown) else ""
    return f"{lead}{part}{tail}", len(lead) + start - _columns(shown[:left])


def _index(text: str, columns: int) -> int:
    """The number of characters that fill this many columns."""
    width = 0
    for index, char in enumerate(text):
        if width >= columns:
            return index
        width += _columns(char)
    return len(text)


def _columns(text: str) -> int:
    """The columns of a text in a terminal: two for a wide character, none for a combining character."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def _paint(text: str, tone: str, colour: bool) -> str:
    return f"\x1b[{tone}m{text}\x1b[0m" if colour else text
