"""Trees of plain values: their leaves by path, and the differences of two trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str, ...]
ABSENT: Any = object()
"""Marks a value that one side does not have, because None is a value."""


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each value that is not a mapping, by its path. Lists are one leaf, and so are empty mappings."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, str(key)))
    else:
        yield path, value


def changed(old: Any, new: Any) -> list[tuple[Path, Any, Any]]:
    """The leaves that differ, in the order of the new tree, then the old one's; ABSENT for a missing one."""
    before, after = dict(leaves(old)), dict(leaves(new))
    paths = [*after, *(path for path in before if path not in after)]
    found = [(path, before.get(path, ABSENT), after.get(path, ABSENT)) for path in paths]
    return [
        (path, one, other) for path, one, other in found if one != other and not _grown(path, before, after)
    ]


def _grown(path: Path, before: Mapping[Path, Any], after: Mapping[Path, Any]) -> bool:
    """Whether a mapping is empty on one side only: then its leaves on the other side are the changes."""
    here, there = (before, after) if path in before else (after, before)
    return here.get(path) in ({}, None) and any(
        one[: len(path)] == path for one in there if len(one) > len(path)
    )


def split(path: Path, old: Any, new: Any) -> Iterator[tuple[Path, Any, Any]]:
    """A changed list as changes of its items, if all have names (`env`, `volumes`); otherwise unchanged."""
    before, after = _by_name(old), _by_name(new)
    if before is None or after is None or not (before or after):
        yield path, old, new
        return
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, ABSENT), after.get(name, ABSENT)
        if one != other:
            yield (*path, name), one, other


def deep(path: Path, old: Any, new: Any) -> Iterator[tuple[Path, Any, Any]]:
    """The changes, also below lists of named items, at any depth."""
    for below, before, after in changed(old, new):
        parts = list(split((*path, *below), before, after))
        for at, one, other in parts:
            nested = isinstance(one, Mapping) and isinstance(other, Mapping)
            if nested and at != (*path, *below):
                yield from deep(at, one, other)
            else:
                yield at, one, other


def _by_name(value: Any) -> dict[str, Any] | None:
    """A list's items by their names; None if not all have different names."""
    if value is ABSENT or value is None:
        return {}
    if not isinstance(value, list | tuple):
        return None
    names = [item.get("name") if isinstance(item, Mapping) else None for item in value]
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        return None
    return {str(item["name"]): item for item in value}


def put(value: Mapping[str, Any], path: Path, leaf: Any) -> dict[str, Any]:
    """Returns the tree with another leaf; without it for ABSENT. Missing mappings on the path are added."""
    first, *rest = path
    result = dict(value)
    if rest:
        inner = result.get(first)
        result[first] = put(inner if isinstance(inner, Mapping) else {}, tuple(rest), leaf)
    elif leaf is ABSENT:
        result.pop(first, None)
    else:
        result[first] = leaf
    return result
