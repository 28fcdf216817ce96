"""Files of Java properties, read and written like java.util.Properties does.

Source: the documentation of java.util.Properties.load; Spark reads the file as UTF-8 and trims values
(org.apache.spark.util.Utils.getPropertiesFromFile).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

BLANKS = " \t\f"
_READ = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
_LINE = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)", re.DOTALL)


def parse(text: str) -> dict[str, str]:
    """The properties of a file; the last of two with one name wins. Raises ValueError for a bad escape."""
    found = {}
    for line in _logical_lines(text):
        match = _LINE.fullmatch(line)
        if match:  # always: the pattern takes any text
            found[_unescaped(match[1])] = _unescaped(match[2]).strip()
    return found


def text_of(properties: Mapping[str, str]) -> str:
    """A file that `parse`, and Java, read back as these properties. Names are sorted."""
    return "".join(f"{escaped_key(name)}={escaped_value(properties[name])}\n" for name in sorted(properties))


def _logical_lines(text: str) -> Iterator[str]:
    """Yields lines joined with their continuation lines; leaves out comments and blank lines."""
    pending = ""
    for line in re.split(r"\r\n|\n|\r", text):
        content = line.lstrip(BLANKS)
        if not pending and (not content or content[0] in "#!"):
            continue
        backslashes = len(content) - len(content.rstrip("\\"))
        if backslashes % 2:
            pending += content[:-1]
            continue
        yield pending + content
        pending = ""
    if pending:
        yield pending


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] != "u":
            return _READ.get(escape, escape)
        if len(escape) != 5:
            raise ValueError(f"{match[0]!r} is not followed by four hexadecimal digits")
        return chr(int(escape[1:], 16))

    return re.sub(r"\\(u[0-9A-Fa-f]{4}|.)", plain, text, flags=re.DOTALL)


def escaped_key(text: str) -> str:
    """A name as java.util.Properties reads it back: separators and comment characters are escaped, too."""
    escaped = "".join(_WRITTEN.get(char, "\\" + char if char in " :=" else char) for char in text)
    return "\\" + escaped if escaped.startswith(("#", "!")) else escaped


def escaped_value(text: str, separators: tuple[str, ...] = (" ",)) -> str:
    """A value as java.util.Properties reads it back. Spark always trims blanks at its end.

    `separators`: characters that must be escaped at the beginning of the value, because they would belong to
    the text before it.
    """
    escaped = "".join(_WRITTEN.get(char, char) for char in text)
    return "\\" + escaped if escaped.startswith(separators) else escaped
