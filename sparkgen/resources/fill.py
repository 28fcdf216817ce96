"""Fills layers, which are data: the generator and the chart use the same layers.

A layer is a partial object with places for values:

- `"@{name}"` is the value of that name, of any type. If it has none, its key or item is left out. The same is
  true of an empty list or map of a document: it sets nothing, and must start no new run.
- `"@{name}-conf"` is a text with the value in it. Such a value is a name, and never a user's text.
- `"@{*name}"` in a list is all items of that value. A list all of whose items are left out is left out, too.
- `"@if": name` in a map leaves the map out unless the value is true.

A name has dots if the value is in a map. Layers can do nothing else: what needs a decision or a sum is a
value, and code computes the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Values = Mapping[str, Any]

PLACE = re.compile(r"@\{([A-Za-z.]+)\}")
"""The place of a value, or of a name in a text."""


def fill(layer: Mapping[str, Any], values: Values) -> dict[str, Any]:
    """A layer with its values; {} if its own `@if` is not true. Raises KeyError if a value is missing."""
    filled = _filled(layer, values)
    return {} if filled is None else dict(filled)


def _filled(part: Any, values: Values) -> Any:
    """A part of a layer with its values; None if it is left out."""
    if isinstance(part, str):
        return _text(part, values)
    if isinstance(part, Mapping):
        if "@if" in part and not _value(part["@if"], values):
            return None
        members = ((key, _filled(member, values)) for key, member in part.items() if key != "@if")
        return {key: member for key, member in members if member is not None}
    if isinstance(part, Sequence):
        return [item for member in part for item in _items(member, values)] or (None if part else [])
    return part


def _items(member: Any, values: Values) -> Iterator[Any]:
    if isinstance(member, str) and member.startswith("@{*"):
        yield from _value(member[3:-1], values)
    elif (item := _filled(member, values)) is not None:
        yield item


def _text(text: str, values: Values) -> Any:
    if "@" not in text:
        return text
    place = PLACE.fullmatch(text)
    if place is None:
        return PLACE.sub(lambda found: str(_value(found[1], values)), text)
    value = _value(place[1], values)
    return None if value in ({}, []) else value


def _value(name: str, values: Values) -> Any:
    first, *path = name.split(".")
    value = values[first]
    for key in path:
        value = (value or {}).get(key)
    return value
