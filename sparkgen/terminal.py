"""Text from outside (documents, logs, clusters, file names), made safe for a terminal, a CI log and a reader.

A terminal obeys control characters: it moves the cursor, overwrites what stands there, sets titles and
clipboards. A CI runner obeys lines: `::error::` and `##[error]` (GitHub), `##vso[...]` (Azure Pipelines),
`##teamcity[...]`. A reader believes what the order and the absence of characters suggest: bidirectional
overrides and characters without width ("Trojan Source", CVE-2021-42574). Here all of that becomes escapes
that can be seen.
"""

from __future__ import annotations

import re

from sparkgen.unseen import FILLERS

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNSEEN = frozenset([*FILLERS, *map(chr, [*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)])])
"""What `str.isprintable` takes for letters, and no reader sees: fillers, and selectors of variants, less the
two that emoji have."""
# Colours and weights (SGR, ECMA-48 8.3.117): the one escape sequence that moves and reveals nothing.
_COLOUR = re.compile(r"(\x1b\[[0-9;:]*m)")
_RESET = "\x1b[0m"
_VISIBLE = frozenset(
    ["", "0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "39", "90"]
    + [str(code) for first in (31, 91) for code in range(first, first + 6)]
)
"""Weights and hues. Not 8, which conceals, nor backgrounds, nor black and white: a terminal may be so."""
# What runners obey. GitHub's: `::name` at the start of a line, blanks before it or not,
# and `##[name]` anywhere in it
# (ActionCommand.cs); the agents of Azure and TeamCity: `##vso[` and `##teamcity[`.
_COMMAND = re.compile(r"(?m)^([^\S\n]*):(?=:)|(#)(?=#[A-Za-z]*\[)")


def visible(text: str) -> str:
    """Text on one line: all that a terminal would obey, or a reader not see, as escapes."""
    if _is_seen(text):
        return text
    return "".join(char if _is_seen(char) else _escape(char) for char in text)


def readable(text: str, *, colours: bool = False) -> str:
    """Text of several lines, less all that a terminal or a CI runner would obey; tabs and line ends stay.

    `colours`: our own stay, too. What stands between them comes from `visible` then.
    """
    return _inert(_coloured(text) if colours else _lines(text))


def for_terminal(text: str) -> str:
    """Data (YAML, JSON, workflow commands) as a terminal may show it."""
    return _lines(text)


def log_line(line: str) -> str:
    """A line of an application's log for a terminal: its colours stay, and end with it.

    Those that could hide text are left out.
    """
    text = _COLOUR.sub(_that_hides_nothing, line.rstrip("\r\n"))
    return f"{_coloured(text)}{_RESET if _COLOUR.search(text) else ''}\n"


def _that_hides_nothing(sequence: re.Match[str]) -> str:
    codes = sequence[0][2:-1].split(";")
    extended = [at for at, code in enumerate(codes) if code in ("38", "48", "58")]
    # What follows one of these is a colour's number, and no code.
    kept = [code for code in codes[: extended[0] if extended else None] if code.lstrip("0") in _VISIBLE]
    return f"\x1b[{';'.join(kept)}m" if kept else ""


def escaped_json(text: str) -> str:
    """JSON in which the same characters are escapes: the same value for every reader."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(char if char == "\n" or _is_seen(char) else _unicode(char) for char in text)


def _coloured(text: str) -> str:
    parts = _COLOUR.split(text)  # every other one is a colour
    return "".join(part if at % 2 else _lines(part) for at, part in enumerate(parts))


def _is_seen(text: str) -> bool:
    return text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text))


def _lines(text: str) -> str:
    if _is_seen(text):
        return text
    # The carriage return of a Windows line end does nothing.
    return "\r\n".join("\n".join(map(_line, part.split("\n"))) for part in text.split("\r\n"))


def _line(line: str) -> str:
    if _is_seen(line):
        return line
    return "".join(char if char == "\t" or _is_seen(char) else _escape(char) for char in line)


def _inert(text: str) -> str:
    """Text of which no runner takes a line for a command."""
    if "::" not in text and "##" not in text:
        return text
    return _COMMAND.sub(lambda found: "#\\" if found[2] else f"{found[1]}\\:", text)


def _escape(char: str) -> str:
    return _SHORT.get(char) or char.encode("unicode_escape").decode()


def _unicode(char: str) -> str:
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
