"""Reads files of Spark properties, as spark-submit reads them.

Source: java.util.Properties.load, and org.apache.spark.util.Utils.getPropertiesFromFile, which strips values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_PREFIX = "spark."
_UTF16 = "utf-16-le"
_HALF = re.compile("[\ud800-\udfff]")
HALF, HALF_STEP = "has a character that is not UTF-8", "write it in UTF-8"
"""The reason why import drops half of a surrogate pair, which YAML cannot have, and the next step."""


@dataclass(frozen=True, slots=True)
class PropertiesFile:
    """A file of properties. `name`: the file's name in positions.

    `size`: the characters of its names and values; 0 if a command itself has the properties.
    """

    name: str
    properties: Sequence[FileProperty]
    size: int = 0


@dataclass(frozen=True, slots=True)
class FileProperty:
    """A property of a file: its name, its value, and its line from 1."""

    name: str
    text: str
    line: int


def read_properties(text: str) -> list[FileProperty]:
    """Returns all properties of a file in their order; if a name occurs twice, the last one counts."""
    return [FileProperty(*_split(line), number) for number, line in _lines(text)]


def properties_file(name: str, text: str) -> PropertiesFile:
    """Returns a file with this text."""
    properties = read_properties(text)
    return PropertiesFile(name, properties, sum(len(item.name) + len(item.text) for item in properties))


def has_spark_properties(text: str) -> bool:
    """Whether a text looks like a file of Spark properties."""
    return any(line.lstrip(" \t\f").startswith(_PREFIX) for _, line in _lines(text))


def has_half(text: str) -> bool:
    """Whether a text has half of a surrogate pair: of an escape, or of an argument that is not UTF-8."""
    return _HALF.search(text) is not None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yields the logical lines with their numbers: no comments or blank lines; continued lines joined."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    index = 0
    while index < len(lines):
        start, line = index, lines[index].lstrip(" \t\f")
        index += 1
        if not line or line[0] in "#!":
            continue
        parts = [line]
        while _continues(parts[-1]) and index < len(lines):
            parts[-1] = parts[-1][:-1]
            parts.append(lines[index].lstrip(" \t\f"))
            index += 1
        yield start + 1, "".join(parts)


def _continues(line: str) -> bool:
    """Whether a line ends with a backslash that is not escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    key = _KEY.match(line)
    end = key.end() if key else 0
    separator = _SEPARATOR.match(line, end)
    value = line[separator.end() if separator else end :]
    return _unescaped(line[:end]), _unescaped(value).strip()


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    # Java's characters have 16 bits: an emoji is two escapes, the halves of a surrogate pair.
    return _ESCAPE.sub(character, text).encode(_UTF16, "surrogatepass").decode(_UTF16, "surrogatepass")
