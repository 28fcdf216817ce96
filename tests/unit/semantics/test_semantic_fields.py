"""The table of fields and their grammars is what the schema says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sparkgen.schema import fields as schema_fields
from sparkgen.schema import store
from sparkgen.semantics import fields

MODULE = Path(fields.__file__)


def annotated(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The grammar and path of every annotated field of our own types below a schema."""
    reference = schema.get("$ref", "")
    if reference:
        if store.kubernetes_type(reference):
            return
        schema = schema_fields.merged(schema)
    if "x-sparkgen-grammar" in schema:
        yield schema["x-sparkgen-grammar"], path
    for name, child in schema.get("properties", {}).items():
        if path or name != "template":  # a scheduled application's template has a table of its own
            yield from annotated(child, (*path, name))


def table(*definitions: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Grammar -> paths below any of some specs."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for definition in definitions:
        for grammar, path in annotated(store.application_schema()["$defs"][definition]):
            found.setdefault(grammar, set()).add(path)
    return {grammar: tuple(sorted(paths)) for grammar, paths in sorted(found.items())}


def quoted(path: tuple[str, ...]) -> list[str]:
    """The parts of a path as source text."""
    return [f'"{part}"' for part in path]


def literal(name: str, value: dict[str, tuple[tuple[str, ...], ...]]) -> str:
    """A table as the source text that the formatter leaves alone."""
    lines = [f"{name}: Mapping[str, tuple[tuple[str, ...], ...]] = {{"]
    for grammar, paths in value.items():
        items = [f"({', '.join(quoted(path))}{',' * (len(path) == 1)})," for path in paths]
        if len(items) == 1:
            lines.append(f'    "{grammar}": ({items[0]}),')
        else:
            lines += [f'    "{grammar}": (', *(f"        {item}" for item in items), "    ),"]
    return "\n".join([*lines, "}"])


def test_the_table_is_what_the_schema_says(regenerate: bool) -> None:
    """A field that gets a grammar in the schema is checked by it: `--regenerate` renews the table."""
    expected = {
        "APPLICATION_FIELDS": table("applicationSpec", "connectServerSpec", "notebookSpec"),
        "SCHEDULE_FIELDS": table("scheduledSpec"),
        "HISTORY_FIELDS": table("historyServerSpec"),
    }
    if regenerate:
        text = MODULE.read_text()
        for name, value in expected.items():
            start = text.index(f"{name}: Mapping")
            end = text.index('\n"""', start)
            text = text[:start] + literal(name, value) + text[end:]
        MODULE.write_text(text)
        return
    actual = {name: dict(getattr(fields, name)) for name in expected}
    assert actual == expected
