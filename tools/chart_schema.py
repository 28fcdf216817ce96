"""charts/spark-app/values.schema.json: the document's schema as Helm needs it.

The same form, less the prose (Helm compiles it at each call), and with two differences that Helm makes:
`global` is a key of every chart's values, and a null may stand for any optional value, because `--set x=null`
and an overlay's `x:` reach the schema as null where `sparkgen render` deletes the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen.schema.store import ANNOTATIONS, bundle

Schema = dict[str, Any]

PROSE = ANNOTATIONS - {"$defs", "$schema"}


def values_schema() -> Schema:
    """The chart's schema, one file without references to others."""
    full = bundle()
    schema: Schema = _bare(full)
    schema["$defs"] = {name: _bare(full["$defs"][name]) for name in sorted(_reached(schema, full["$defs"]))}
    schema["title"] = "A document of `sparkgen render`, as Helm values"
    schema["properties"]["global"] = {"type": ["object", "null"]}
    return schema


def _reached(schema: Any, definitions: Mapping[str, Any]) -> set[str]:
    """The definitions that a schema leads to."""
    names: set[str] = set()
    waiting = [schema]
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.split("/")[2]
            if name not in names:
                names.add(name)
                waiting.append(definitions[name])
    return names


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for key, one in value.items() if key != "$defs" for found in _references(one)]
    return [found for one in value for found in _references(one)] if isinstance(value, list) else []


def _bare(schema: Any) -> Any:
    """A schema without prose, its optional values nullable. The keys of `properties` are no keywords."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            required = schema.get("required", ())
            result[key] = {
                name: _bare(one) if name in required else _or_null(_bare(one)) for name, one in value.items()
            }
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _or_null(_bare(value))
        elif key == "if":
            result[key] = value
        elif key not in PROSE and key != "$defs":
            result[key] = _bare(value)
    return result


def _or_null(schema: Any) -> Any:
    """A schema that takes null, too. `if` and `else` keep Helm's message to what is wrong with the value."""
    if not isinstance(schema, dict) or not schema:
        return schema
    kinds = schema.get("type")
    if kinds is None or "const" in schema or "$ref" in schema:
        return {"if": {"type": "null"}, "else": schema}
    result = {**schema, "type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}
    if "enum" in schema:
        result["enum"] = [*schema["enum"], None]
    return result
