"""Removes values from a draft, and updates what is recorded about the values that stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from sparkgen.errors import Path
from sparkgen.importing.draft import Draft, Source

_Noted = TypeVar("_Noted")


def take_out(draft: Draft, path: Path) -> None:
    """Remove a value, and then the empty mappings above it; list items and paths of up to two parts stay."""
    if isinstance(path[-1], int):
        _note_items(draft, path[:-1])
    parents = _remove(draft.value, path)
    if isinstance(path[-1], int):
        _move_up(draft, path[:-1], path[-1])
    for depth in range(len(path) - 1, 2, -1):
        if parents[depth] or isinstance(path[depth - 1], int):
            return
        del parents[depth - 1][path[depth - 1]]


def _remove(value: Any, path: Path) -> list[Any]:
    """Remove a value. Returns the values around it, from the whole document down."""
    parents = [value]
    for part in path[:-1]:
        # The input's nodes share the value, so it is copied.
        copied = dict(value[part]) if isinstance(value[part], dict) else list(value[part])
        value[part] = copied
        value = copied
        parents.append(value)
    del value[path[-1]]
    return parents


def _note_items(draft: Draft, path: Path) -> None:
    """Record the source of each item of a copied list, before its index changes."""
    source = draft.copied.get(path)
    if source is None:
        return
    del draft.copied[path]
    for index, node in enumerate(source.node.items):
        draft.copied.setdefault((*path, index), Source((*source.path, index), node))


def _move_up(draft: Draft, path: Path, removed: int) -> None:
    """Forget what is recorded about an item removed from a list, and move the items after it."""

    def moved(place: Path) -> Path:
        index = place[len(path)] if place[: len(path)] == path and len(place) > len(path) else None
        if not isinstance(index, int) or index <= removed:
            return place
        return (*path, index - 1, *place[len(path) + 1 :])

    stores: tuple[dict[Path, Any], ...] = (draft.copied, draft.comments, draft.removed)
    for noted in stores:
        _forget(noted, (*path, removed))
    draft.entries[:] = [replace(entry, target=moved(entry.target)) for entry in draft.entries]
    draft.copied = _keys(draft.copied, moved)
    draft.comments = _keys(draft.comments, moved)
    draft.removed = _keys(draft.removed, moved)


def _forget(noted: dict[Path, Any], gone: Path) -> None:
    for place in [place for place in noted if place[: len(gone)] == gone]:
        del noted[place]


def _keys(noted: dict[Path, _Noted], moved: Callable[[Path], Path]) -> dict[Path, _Noted]:
    return {moved(path): value for path, value in noted.items()}
