"""The texts in a run's ConfigMaps: Java properties, Hadoop's XML, readable JSON.

Jinja was measured here and left out: it took 44 of the 95 ms of a cold render, for two property files
(docs/design/dependencies.md). It renders the documents of `sparkgen init`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sparkgen.names import canonical_json, json_string
from sparkgen.runtime.allocator.driver.properties import escaped_key, escaped_value

FOLDER = Path(__file__).parents[1] / "templates" / "run"
"""By path, not by importlib.resources: that takes 5 ms to import, and a wheel is always unpacked."""


@cache
def static_text(name: str) -> str:
    """The text of a file below sparkgen/templates/run."""
    return (FOLDER / name).read_text(encoding="utf-8")


def properties_text(properties: Iterable[tuple[str, str]], separator: str = " ") -> str:
    """A file of Java properties, with a line for each, in the given order."""
    return "".join(f"{property_key(key)}{separator}{property_value(text)}\n" for key, text in properties)


def hadoop_xml(properties: Mapping[str, str]) -> str:
    """A configuration file of Hadoop, in the given order."""
    items = "".join(
        f"  <property>\n    <name>{xml_text(name)}</name>\n    <value>{xml_text(text)}</value>\n"
        "  </property>\n"
        for name, text in properties.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n{items}</configuration>\n'


_XML = str.maketrans(
    # An unescaped carriage return would be read as a line feed (XML 1.0, "End-of-Line Handling").
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\r": "&#13;"}
)


def xml_text(text: str) -> str:
    """A text as the content of an XML element, with the escapes of Go's template language."""
    return text.translate(_XML)


def property_value(text: str) -> str:
    """A value that follows a blank: another separator at its beginning would belong to that blank."""
    return escaped_value(text, (" ", "=", ":"))


property_key = escaped_key


def json_text(value: Any) -> str:
    """A JSON file for people and the allocator: sorted keys, indented by two blanks, with a final newline."""
    return _indented(value, "\n") + "\n"


def _indented(value: Any, line: str) -> str:
    """Formats like `json.dumps(indent=2)`, with scalars in the canonical form. `line`: newline and indent."""
    deeper = line + "  "
    if value and isinstance(value, dict):
        items = (f"{json_string(key)}: {_indented(value[key], deeper)}" for key in sorted(value))
        return "{" + deeper + f",{deeper}".join(items) + line + "}"
    if value and isinstance(value, list | tuple):
        return "[" + deeper + f",{deeper}".join(_indented(item, deeper) for item in value) + line + "]"
    return canonical_json(value)
