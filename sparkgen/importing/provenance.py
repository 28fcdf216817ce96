"""Finds the sources of a draft's values: the entry, the position and the characters of the input."""

from __future__ import annotations

from typing import Any

from sparkgen.errors import Path, Position
from sparkgen.importing.draft import Draft, Source
from sparkgen.importing.entry import Entry


def entry_of(draft: Draft, path: Path) -> Entry | None:
    """Returns the entry with the source of a document's value: the nearest at or above its path, or None."""
    above = [
        item
        for item in draft.entries
        if item.target and item.target == path[: len(item.target)] and item.source
    ]
    return max(above, key=lambda item: len(item.target), default=None)


def _copied(draft: Draft, path: Path) -> tuple[Path, Source] | None:
    """Returns what was copied to a path, or to the nearest path above it, with that path; None if nothing."""
    places = (path[:length] for length in range(len(path), 0, -1))
    return next(((place, draft.copied[place]) for place in places if place in draft.copied), None)


def source_of(draft: Draft, path: Path, entry: Entry | None) -> tuple[Path, Position]:
    """Returns the path and the position in the input of a document's value."""
    copied = _copied(draft, path)
    if copied is None or (entry is not None and len(entry.target) > len(copied[0])):
        return (entry.source, entry.position) if entry else ((), draft.origin)
    place, source = copied
    below = path[len(place) :]
    node = source.node
    if node.find(below) is None:
        return source.path, node.position
    return (*source.path, *below), node.locate_key(below) if below else node.position


def text_at(draft: Draft, path: Path) -> str | None:
    """Returns a scalar as the input has it; without a source, the document's string; else None."""
    copied = _copied(draft, path)
    node = copied[1].node.find(path[len(copied[0]) :]) if copied else None
    if node is not None:
        return node.text
    value = value_at(draft.value, path)
    return value if isinstance(value, str) else None


def is_there(value: Any, path: Path) -> bool:
    """Whether a document has a value at a path."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def value_at(value: Any, path: Path) -> Any:
    """Returns the value at a path. Raises KeyError, IndexError or TypeError if there is none."""
    for part in path:
        value = value[part]
    return value
