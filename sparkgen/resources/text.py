"""The text payloads of a run's ConfigMaps. Jinja renders text; it never renders a Kubernetes object."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sparkgen.names import canonical_json, json_string

if TYPE_CHECKING:
    from jinja2 import Environment


def render_text(template: str, **values: Any) -> str:
    """The text of a template below sparkgen/templates/run, with one final newline."""
    return _environment().get_template(template).render(values).rstrip("\n") + "\n"


def static_text(name: str) -> str:
    """A file below sparkgen/templates/run, as it is."""
    return files("sparkgen").joinpath("templates", "run", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    # Imported on first use: `explain`, `schema` and a failed validation need no Jinja.
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FunctionLoader(static_text),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - these are properties files; the one XML file escapes by name
        keep_trailing_newline=True,
    )
    environment.filters["property_key"] = property_key
    environment.filters["property_value"] = property_value
    return environment


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}


def property_value(text: str) -> str:
    """A value as java.util.Properties reads it back. Spark reads these files as UTF-8 and trims values.

    At its beginning a separator would belong to the blank between key and value.
    """
    escaped = "".join(_ESCAPES.get(char, char) for char in text)
    return "\\" + escaped if escaped.startswith((" ", "=", ":")) else escaped


def property_key(text: str) -> str:
    """A key as java.util.Properties reads it back: separators and comment signs are escaped too."""
    escaped = "".join(_ESCAPES.get(char, "\\" + char if char in " :=" else char) for char in text)
    return "\\" + escaped if escaped.startswith(("#", "!")) else escaped


def json_text(value: Any) -> str:
    """A JSON file for people and the allocator: sorted keys, two blanks of indent, a final newline."""
    return _indented(value, "\n") + "\n"


def _indented(value: Any, line: str) -> str:
    """Laid out as by `json.dumps(indent=2)`, scalars as in the canonical form. `line`: newline and indent."""
    deeper = line + "  "
    if value and isinstance(value, dict):
        items = (f"{json_string(key)}: {_indented(value[key], deeper)}" for key in sorted(value))
        return "{" + deeper + f",{deeper}".join(items) + line + "}"
    if value and isinstance(value, list | tuple):
        return "[" + deeper + f",{deeper}".join(_indented(item, deeper) for item in value) + line + "]"
    return canonical_json(value)
