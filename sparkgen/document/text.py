"""Decodes bytes to text, and splits text into lines, counted as libyaml counts them."""

from __future__ import annotations

import codecs
import re
from functools import cache

from sparkgen.errors import Position, Problem, Severity

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line breaks of YAML 1.1, and so of libyaml."""

_FORBIDDEN_ASCII = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@cache
def _forbidden() -> re.Pattern[str]:
    """Characters that a YAML file must not contain (libyaml, reader.c), mostly control characters.

    Also a byte order mark that is not at the start: libyaml skips it, go-yaml makes it a part of a key.
    Compiled only for texts with characters outside ASCII, because it takes as long as parsing a document.
    """
    return re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


_LONGEST = 60  # characters of the user's text in a message: more would hide the message itself


def shortened(text: str) -> str:
    """The beginning of a text, on one line."""
    line = lines_of(text)[0] if len(text) <= _LONGEST else lines_of(text[: _LONGEST + 1])[0]
    if line == text and len(line) <= _LONGEST:
        return text
    return f"{line[: _LONGEST - 3]}..."


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return _BREAK.split(text)


def syntax_problem(position: Position, message: str, next_step: str, found: str = "") -> Problem:
    """SG002: the text is not YAML, or not YAML that Kubernetes can read."""
    return Problem("SG002", Severity.ERROR, position, (), message, found=found, next_step=next_step)


def decode(data: bytes, file: str) -> str | Problem:
    """The text of a file in UTF-8, with or without a byte order mark; a Problem for any other file."""
    if data.startswith(_UTF16) or data[:2].count(0) == 1:
        return syntax_problem(Position(file, 1, 1), "the file is UTF-16", "save it as UTF-8")
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        place = position_after(data[: error.start].decode("utf-8").removeprefix("\ufeff"), file)
        if b"\0" in data:
            return _binary(place)
        message = f"the file is not UTF-8: invalid byte 0x{data[error.start]:02x}"
        return syntax_problem(place, message, "save it as UTF-8")
    found = (_FORBIDDEN_ASCII if text.isascii() else _forbidden()).search(text)
    if found is None:
        return text
    place = position_after(text[: found.start()], file)
    if found[0] == "\0":
        return _binary(place)
    name = "byte order mark" if found[0] == "\ufeff" else "control character"
    step = "delete it (editors do not show it); if a value needs it, write it as an escape in double quotes"
    return syntax_problem(place, f"the {name} U+{ord(found[0]):04X} is not allowed here", step)


def _binary(place: Position) -> Problem:
    message = "the file contains a NUL byte: it is binary, not YAML"
    return syntax_problem(place, message, "give a YAML file in UTF-8")


def position_after(before: str, file: str) -> Position:
    """The position of the character after `before`, the text from the start of a file."""
    lines = lines_of(before)
    return Position(file, len(lines), len(lines[-1]) + 1)
