"""The chart's schema of values, asked in Python."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from chart import schema as chart_schema
from sparkgen.schema.accepts import python_pattern


@cache
def validator() -> jsonschema.Draft202012Validator:
    """The chart's schema, as Helm would ask it."""
    return jsonschema.Draft202012Validator(_for_python(chart_schema.values_schema()))


def _for_python(schema: Any) -> Any:
    """A schema whose patterns mean in Python what they mean to Helm."""
    if isinstance(schema, list):
        return [_for_python(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    read = {key: _for_python(value) for key, value in schema.items()}
    if isinstance(schema.get("pattern"), str):
        read["pattern"] = python_pattern(schema["pattern"])
    return read
