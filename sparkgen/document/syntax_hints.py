"""A YAML parser's error -> a problem that says what to do about it.

libyaml reports where it stopped and what it expected; the mistake is often a line earlier. Each function of
`_FAMILIES` recognizes one family of mistakes: it returns a problem, or None for an error of another family.
They are tried in this order. They recognize the messages of libyaml and of PyYAML's own parser.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sparkgen.document.problems import TEMPLATE_STEP, too_deep
from sparkgen.document.syntax import Syntax, quoted, read_error, without_comment
from sparkgen.document.text import shortened, syntax_problem
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml import YAMLError

_KEY_WITHOUT_SPACE = re.compile(r"\s*(?:- +)*[\w./-]+:[^\s:]")
_COLON_IN_TEXT = re.compile(
    r"(?P<key>\s*+(?:- +)*+[^\s#][^:#]*+:\s+)(?P<value>[^\s\"'\[{|>&*!#].*:(?:\s.*)?)"
)
_CONFLICT = re.compile(r"(?:<{7}|>{7}|\|{7})(?:\s|\Z)|={7}\Z")
_TEMPLATE = re.compile(r"\{\{|\{%")
_INDENT = re.compile(r"[ ]*(?:- +)*")
_DOCUMENT_START = re.compile("expected '?<document start>")
_TOO_DEEP = "exceeded maximum nesting depth"  # libyaml from 0.2.6 on, which looks ahead
_LONGEST_KEY = 1024  # characters, YAML 1.1's limit for a key without `?`


def explain(error: YAMLError, lines: list[str], file: str, above: int = 0) -> Problem:
    """The problem (SG002, SG004 for a tab, SG005 for depth) for an exception of PyYAML.

    `above`: the number of lines above these in the file.
    """
    found = _explained(error, lines, file, above)
    at = found.position
    return replace(found, position=Position(at.file, at.line + above, at.column))


def _explained(error: YAMLError, lines: list[str], file: str, above: int) -> Problem:
    """The problem at its place in the lines."""
    syntax = read_error(error, lines, file, above)
    if syntax is None:
        return syntax_problem(Position(file, 1, 1), f"this is not YAML: {error}", "save it as plain text")
    if _TOO_DEEP in syntax.problem:
        return too_deep(syntax.at)
    for family in _FAMILIES:
        found = family(syntax)
        if found is not None:
            return found
    step = "check the indentation and quotes of this line and the one above"
    return syntax.problem_at(syntax.at, f"YAML cannot be parsed here: {syntax.problem}", step)


def _conflict(syntax: Syntax) -> Problem | None:
    """A conflict marker of Git in or above the line of the mistake.

    Valid YAML has none at the start of a line, because text below a key is indented.
    """
    for number, line in enumerate(syntax.lines[: syntax.at.line], 1):
        if _CONFLICT.match(line.rstrip()):
            at = Position(syntax.at.file, number, 1)
            step = "keep one side; delete the other, and the lines with `<<<<<<<`, `=======` and `>>>>>>>`"
            return syntax.problem_at(at, "this is an unresolved merge conflict", step)
    return None


def _tab(syntax: Syntax) -> Problem | None:
    """A tab in the indentation, or at the character at which the parser stopped."""
    line = syntax.line
    blank = line[: len(line) - len(line.lstrip())]
    if syntax.character == "\t":
        column = syntax.at.column
    elif "\t" in blank[: syntax.at.column]:
        column = blank.index("\t") + 1
    else:
        return None
    return Problem(
        "SG004",
        Severity.ERROR,
        syntax.column(column),
        (),
        "there is a tab where YAML allows only spaces",
        found="\\t",
        next_step="replace it with spaces (in most editors: convert indentation to spaces)",
    )


def _unclosed_quote(syntax: Syntax) -> Problem | None:
    if "quoted scalar" not in syntax.context or syntax.start is None:
        return None
    if "unexpected end of stream" not in syntax.problem and "unexpected document" not in syntax.problem:
        return None
    quote = syntax.character_at(syntax.start)
    step = f"close it at the end of the value; write {_inside(quote)} for a {quote} inside it"
    message = f"the quote {quote} that opens here is never closed"
    return syntax.problem_at(syntax.start, message, step, syntax.rest(syntax.start))


def _inside(quote: str) -> str:
    """How to write a quote inside a string in the same quotes."""
    return '\\"' if quote == '"' else "''"


def _escape(syntax: Syntax) -> Problem | None:
    if "escape" not in syntax.problem and "decimal number" not in syntax.problem:
        return None
    at = syntax.start or syntax.at
    if "invalid unicode" in syntax.problem:
        message = "this escape is half of a surrogate pair: unlike JSON, YAML does not combine two halves"
        return syntax.problem_at(at, message, "write the character itself, in UTF-8", syntax.rest(at))
    message = "unknown escape: a backslash in double quotes starts one"
    step = "use single quotes, in which a backslash has no special meaning, or double the backslash"
    return syntax.problem_at(at, message, step, syntax.rest(at))


def _outside(syntax: Syntax) -> Problem | None:
    """Text outside a document: a directive, or text after the document's end."""
    if "directive" in f"{syntax.context} {syntax.problem}" or "incompatible yaml" in syntax.problem:
        step = "delete the line; quote a value that starts with `%`"
        return syntax.problem_at(syntax.at, "a line that starts with `%` is a YAML directive", step)
    if _DOCUMENT_START.search(syntax.problem):
        message = "text follows the end of the document"
        step = "separate documents with `---`; give all keys of a mapping the same indentation"
        return syntax.problem_at(syntax.at, message, step)
    return None


def _template(syntax: Syntax) -> Problem | None:
    place = next(
        (one for one in (syntax.at, syntax.start) if one and _TEMPLATE.search(syntax.line_of(one))), None
    )
    found = _TEMPLATE.search(syntax.line_of(place)) if place else None
    if found is None or place is None:
        return None
    at = Position(place.file, place.line, found.start() + 1)
    return syntax.problem_at(at, f"`{found[0]}` must be in quotes", TEMPLATE_STEP)


def _reserved(syntax: Syntax) -> Problem | None:
    """A value that starts with a character that YAML reserves: @ ` % * & !."""
    marked = "an alias" in syntax.context or "an anchor" in syntax.context
    tagged = "tag" in syntax.context or "tag handle" in syntax.problem
    if "cannot start any token" in syntax.problem:
        at = syntax.at
    elif (marked or tagged) and syntax.start is not None:
        at = syntax.start
    else:
        return None
    value = syntax.rest(at)
    message = f"a value must not start with `{syntax.character_at(at)}` unless it is quoted"
    return syntax.problem_at(at, message, f"put it in quotes: {quoted(value)}", value)


def _bracket(syntax: Syntax) -> Problem | None:
    if "',' or ']'" not in syntax.problem and "',' or '}'" not in syntax.problem:
        return None
    start = syntax.start or syntax.at
    opening, closing = ("[", "]") if "']'" in syntax.problem else ("{", "}")
    if start.line == syntax.at.line and syntax.character:
        step = (
            f"put a comma before it, or close with `{closing}`; quote strings that contain brackets or commas"
        )
        message = f"a comma or `{closing}` is missing here"
        return syntax.problem_at(syntax.at, message, step, syntax.rest(syntax.at))
    message = f"the bracket `{opening}` that opens here is never closed"
    return syntax.problem_at(start, message, f"close it with `{closing}`")


def _colon(syntax: Syntax) -> Problem | None:
    """A colon where YAML allows none: in brackets, or ("mapping values are not allowed") for five reasons."""
    if "found unexpected ':'" in syntax.problem:
        message = "a string with a colon must be quoted inside brackets"
        return syntax.problem_at(syntax.at, message, "put it in quotes")
    if "mapping values are not allowed" not in syntax.problem:
        return None
    inside = _COLON_IN_TEXT.match(syntax.line)
    if inside and len(inside["key"]) < syntax.at.column:
        value = without_comment(inside["value"])
        at = syntax.column(len(inside["key"]) + 1)
        message = "a string with `: ` must be quoted, or YAML reads it as a key"
        return syntax.problem_at(at, message, f"put it in quotes: {quoted(value)}", value)
    if syntax.before.endswith(("'", '"')):
        return _behind_quote(syntax)
    above = syntax.above()
    if above is None:
        return None
    if _KEY_WITHOUT_SPACE.match(syntax.line_of(above)):
        return _missing_space(syntax, above)
    if ":" not in syntax.line_of(above):
        return _missing_colon(syntax, above)
    return _deeper(syntax, above)


def _deeper(syntax: Syntax, above: Position) -> Problem:
    message = f"this line is indented more than line {syntax.number_of(above)}, which already has a value"
    step = f"give both lines the same indentation, or remove the value from line {syntax.number_of(above)}"
    return syntax.problem_at(syntax.column(_indent(syntax.line) + 1), message, step)


def _indent(line: str) -> int:
    found = _INDENT.match(line)
    return found.end() if found else 0


def _missing_space(syntax: Syntax, at: Position) -> Problem:
    line = syntax.line_of(at)
    key, _, value = line.strip().partition(":")
    place = Position(at.file, at.line, line.index(":") + 2)
    step = f"write `{shortened(f'{key}: {value}')}`"
    return syntax.problem_at(place, "a space is missing after the colon", step)


def _missing_colon(syntax: Syntax, at: Position) -> Problem:
    line = syntax.line_of(at)
    place = Position(at.file, at.line, _indent(line) + 1)
    step = f"write `{shortened(line.strip())}:` for a key; a string of several lines needs `|` after its key"
    return syntax.problem_at(place, "this line is not `key: value`: the colon is missing", step)


def _no_colon(syntax: Syntax) -> Problem | None:
    if "could not find expected ':'" not in syntax.problem or syntax.start is None:
        return None
    line = syntax.line_of(syntax.start)
    if _KEY_WITHOUT_SPACE.match(line):
        return _missing_space(syntax, syntax.start)
    if len(line) > _LONGEST_KEY:
        step = (
            f"a key has at most {_LONGEST_KEY} characters: quote a long string, or write it below after `|`"
        )
        return syntax.problem_at(syntax.start, "this is too long for a key", step, "")
    return _missing_colon(syntax, syntax.start)


def _list_item(syntax: Syntax) -> Problem | None:
    """A `-` outside a list, or another character where the next `-` of a list is expected."""
    found = syntax.rest(syntax.at)
    if "sequence entries are not allowed" in syntax.problem:
        step = "put `- ` on the next line, or write the list as [a, b]; quote it if you mean a string"
        return syntax.problem_at(syntax.at, "a list cannot start on the line of its key", step, found)
    ended = "<block end>" in syntax.problem
    if syntax.character == "-" and ("expected key" in syntax.problem or ended):
        step = "indent it below its key, and give that key no other value"
        return syntax.problem_at(syntax.at, "a list item is among the keys of a mapping", step, found)
    if "expected '-' indicator" in syntax.problem or ("collection" in syntax.context and ended):
        message = "this key is in the same column as the `-` of the list above"
        step = "indent it by two more spaces if it is part of the item, by two fewer if it follows the list"
        return syntax.problem_at(syntax.at, message, step, found)
    return None


def _block_text(syntax: Syntax) -> Problem | None:
    if "block scalar" not in syntax.context or syntax.start is None:
        return None
    at = syntax.start
    value = syntax.rest(at)
    mark = syntax.character_at(at)
    message = f"`{mark}` starts a string on the lines below, and only a comment may follow it"
    step = f"put the text on the next line, or quote the value: {quoted(value)}"
    return syntax.problem_at(at, message, step, value)


def _after_value(syntax: Syntax) -> Problem | None:
    """Text after a complete value ("did not find expected key"), or an indentation that matches no line."""
    if "expected key" not in syntax.problem and "<block end>" not in syntax.problem:
        return None
    if syntax.character in ("]", "}"):
        message = f"`{syntax.character}` closes a bracket that was never opened"
        return syntax.problem_at(syntax.at, message, "delete it, or add the opening bracket")
    if syntax.before.endswith(("'", '"')):
        return _behind_quote(syntax)
    if syntax.before.strip(" -"):
        return syntax.problem_at(syntax.at, "text follows the end of a value", "quote the value as a whole")
    above = syntax.above()
    if above is not None and _indent(syntax.line) > _indent(syntax.line_of(above)):
        return _deeper(syntax, above)
    message = "the indentation of this line matches no line above it"
    step = "start it in the same column as the other keys of its mapping"
    return syntax.problem_at(syntax.at, message, step)


def _behind_quote(syntax: Syntax) -> Problem:
    """Text after a closing quote; if this quote was meant to open a string, an earlier one was not closed."""
    quote = syntax.before[-1]
    if syntax.before.count(quote) % 2:
        for number in range(syntax.at.line - 1, 0, -1):
            text = syntax.lines[number - 1]
            if text.count(quote) % 2:
                at = Position(syntax.at.file, number, text.rindex(quote) + 1)
                closed = syntax.number_of(syntax.at)
                message = f"the quote {quote} that opens here is closed only on line {closed}"
                return syntax.problem_at(at, message, "close it at the end of the value")
    step = f"quote the value as a whole; write {_inside(quote)} for a {quote} inside it"
    return syntax.problem_at(syntax.at, "text follows the closing quote of a value", step)


def _nothing_here(syntax: Syntax) -> Problem | None:
    if "node content" not in syntax.problem:
        return None
    if syntax.character in (",", "]", "}", "-", "?", ":") and not syntax.line.startswith("---"):
        message = f"a value is missing before `{syntax.character}`"
        return syntax.problem_at(
            syntax.at, message, "write the value before it, or quote it if you mean a string"
        )
    if not syntax.character and syntax.before.endswith(("[", "{")):
        opened = syntax.column(len(syntax.before))
        message = f"the bracket `{syntax.before[-1]}` that opens here is never closed"
        return syntax.problem_at(opened, message, "close it with `]` or `}`")
    message = "a bracket above is never closed, and the document ends here"
    return syntax.problem_at(syntax.at, message, "close it with `]` or `}`")


_FAMILIES: tuple[Callable[[Syntax], Problem | None], ...] = (
    _conflict,
    _tab,
    _unclosed_quote,
    _escape,
    _outside,
    _template,
    _reserved,
    _bracket,
    _colon,
    _no_colon,
    _list_item,
    _block_text,
    _after_value,
    _nothing_here,
)
