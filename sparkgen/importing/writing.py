"""Writes a draft as the text of a document, in the order in which a person would write it, with comments.

Fields are in the order of the schema, which is that of the documentation. Keys that the schema does not name
(properties, labels) are in the order of the input.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sparkgen.errors import Path
from sparkgen.importing.entry import FINDINGS, Entry
from sparkgen.model.connect import CONNECT_KIND
from sparkgen.schema.store import application_schema
from sparkgen.yamltext import dump, scalar

_WIDTH = 100
_HEAD = ("apiVersion", "kind", "metadata", "spec")


def document_text(
    value: Mapping[str, Any], comments: Mapping[Path, Sequence[str]], head: Iterable[str]
) -> str:
    """Returns a document's text. `comments`: lines above fields, by path; `head`: lines above everything."""
    lines = [line for text in head for line in comment(text)]
    spec = "connectServerSpec" if value["kind"] == CONNECT_KIND else "applicationSpec"
    _mapping(lines, value, (), "", comments, spec)
    return "\n".join(lines) + "\n"


def about_findings(entries: Iterable[Entry]) -> list[str]:
    """Returns the lines of a comment about the findings that have no field in the text."""
    lost = [entry for entry in entries if entry.outcome in FINDINGS and not entry.target]
    lines = [f"  {entry.subject} (line {entry.position.line}): {entry.reason}" for entry in lost]
    return ["Lost, or needs your attention:", *lines] if lost else []


def _mapping(
    lines: list[str],
    value: Mapping[str, Any],
    path: Path,
    margin: str,
    comments: Mapping[Path, Sequence[str]],
    spec: str,
) -> None:
    for key in _ordered(value, path, spec):
        item, place = value[key], (*path, key)
        for text in dict.fromkeys(comments.get(place, ())):
            lines += comment(text, margin)
        if isinstance(item, dict) and item and any(other[: len(place)] == place for other in comments):
            lines.append(f"{margin}{scalar(key)}:")
            _mapping(lines, _ordered_value(item, place, spec), place, f"{margin}  ", comments, spec)
        else:
            text = dump({key: _ordered_value(item, place, spec)})
            lines += [f"{margin}{line}" if line else "" for line in text.rstrip("\n").split("\n")]


def _ordered_value(item: Any, path: Path, spec: str) -> Any:
    """Returns a value with its fields in the schema's order, as far as the schema names them."""
    if not isinstance(item, dict):
        return item
    return {key: _ordered_value(item[key], (*path, key), spec) for key in _ordered(item, path, spec)}


def _ordered(value: Mapping[str, Any], path: Path, spec: str) -> list[str]:
    """Returns the keys of a mapping in the order of the text. `spec`: the schema's definition of the spec."""
    known = _HEAD if not path else _order(tuple(part for part in path if isinstance(part, str)), spec)
    # A schedule has its own `suspend` and `concurrencyPolicy`: the first place of a name counts.
    places = {name: index for index, name in reversed([*enumerate(known)])}
    return sorted(value, key=lambda key: places.get(key, len(places)))


@functools.cache
def _order(path: tuple[str, ...], spec: str) -> tuple[str, ...]:
    """Returns the fields that the schema names at a place of a document, in its order."""
    definitions = application_schema()["$defs"]
    if path == ("spec",):
        scheduled = tuple(definitions["scheduledSpec"]["properties"])
        return (*scheduled, *definitions[spec]["properties"])
    if path[:2] == ("spec", "template"):
        path = ("spec", *path[2:])
    section = definitions["metadata"] if path[:1] == ("metadata",) else definitions[spec]
    for part in path[1:]:
        section = _resolved(section.get("properties", {}).get(part, {}), definitions)
    return tuple(section.get("properties", ()))


def _resolved(section: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    reference = section.get("$ref", "")
    if reference.startswith("#/$defs/") and reference.count("/") == 2:
        definition: dict[str, Any] = definitions[reference.removeprefix("#/$defs/")]
        return definition
    return section


def comment(text: str, margin: str = "") -> list[str]:
    """Returns a text as comment lines; each character that is not printable becomes a space."""
    clean = "".join(char if char.isprintable() else " " for char in text)
    indent = " " * (len(clean) - len(clean.lstrip(" ")))
    width = max(_WIDTH - len(margin) - 2, 40)
    wrapped = textwrap.wrap(
        clean.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [f"{margin}# {line}" for line in wrapped or [""]]
