"""Values in messages, in words and in YAML: `"3.5"`, `a whole number`, `memory: 4g`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sparkgen.errors import Path
from sparkgen.yamltext import dump

ARTICLES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping",
    "string": "a string",
}
"""Type of JSON Schema -> what a value must be, in words."""

_PLAIN = re.compile(
    r"[A-Za-z_/.][A-Za-z0-9_/@.+*-]*(:[A-Za-z0-9_/@.+*-]+)*"  # names, paths, images
    r"|[a-z0-9]+://[A-Za-z0-9_/@.+-]+"  # URLs
    r"|[0-9]+[A-Za-z]+"  # sizes and durations: 4g, 60s, 500m
)
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "~", ".inf", ".nan"})
LONGEST = 100
"""The most characters of a line that a message shows."""


def scalar(value: Any) -> str:
    """A scalar as YAML text; a string is quoted unless it is certain that YAML reads it as this string."""
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _WORDS
        return value if plain else quoted(value)
    return json.dumps(value)


def quoted(text: str) -> str:
    """The string in double quotes, as YAML writes it."""
    return json.dumps(text, ensure_ascii=False)


def flow(value: Any) -> str:
    """Any value as YAML on one line: `{name: nvidia.com/gpu, quantity: 1}`."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(value: Any) -> str:
    """Any value as YAML over several lines, ending with a newline."""
    return dump(value)


def line(path: Path, text: str) -> str:
    """The line of a document with a value: `memory: 4g`, or `- 4g` for a list's item."""
    return f"- {text}" if isinstance(path[-1], int) else f"{scalar(path[-1])}: {text}"


def set_string(path: Path, text: str) -> str:
    r"""The option that sets a field to a string, for a shell: `--set-string 'spec.sparkConf.a\.b=4'`."""
    import shlex  # noqa: PLC0415  (only for a wrong value of an option)

    key = "".join(f"[{part}]" if isinstance(part, int) else "." + _escaped(part) for part in path)
    argument = f"{key[1:]}={_escaped(text, of=',')}"
    return f"--set-string {shlex.quote(argument)}"


def _escaped(text: str, of: str = r".,=[\]") -> str:
    """The text with a backslash before each character that has a special meaning in `--set`."""
    return "".join(f"\\{one}" if one in of or one == "\\" else one for one in text)


def kind_of(value: Any) -> str:
    """The type of a value, in the words of messages: `a number`, `a list`."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a mapping"


def as_written(value: Any, text: str) -> str:
    """A scalar as it is in the document, but strings always in quotes; "" for a list or a mapping."""
    if isinstance(value, dict | list):
        return ""
    return shortened(quoted(value) if isinstance(value, str) else text)


def shortened(text: str, length: int = 60) -> str:
    """The text, cut to `length` characters."""
    return text if len(text) <= length else text[: length - 3] + "..."


def either(choices: Sequence[str]) -> str:
    """Choices in a sentence: `a, b or c`."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last
