"""Immutable mappings: an empty one, and one that shares unchanged entries with its successor.

PersistentMap keeps its changes in a small dict above a large one. Each change copies the small dict. Once the
small dict has as many entries as the square root of the large one's size, both are merged into a new large
one: n changes of a map of n entries take n times the square root of n steps, and not n times n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class _EmptyMap(Mapping[Any, Any]):
    """An empty, immutable mapping. It has a hash, so dataclasses accept it as a default."""

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


EMPTY_MAP: Mapping[Any, Any] = _EmptyMap()
"""The default of all mappings in the allocator's values."""


class PersistentMap(Mapping[int, Value]):
    """An immutable map by executor id. The mappings that it is made of must not change, either."""

    __slots__ = ("_above", "_below")

    def __init__(self, below: Mapping[int, Value], above: Mapping[int, Value | None] = EMPTY_MAP) -> None:
        self._below = below
        self._above = above
        """The entries that differ from `_below`; None marks a removed entry."""

    def having(self, id_: int, value: Value) -> PersistentMap[Value]:
        """Returns a map in which `id_` has this value."""
        return self._changed(id_, value)

    def without(self, id_: int) -> PersistentMap[Value]:
        """Returns a map without `id_`."""
        return self._changed(id_, None) if id_ in self else self

    def whole(self) -> dict[int, Value]:
        """Returns all entries as a new dict, which is faster than iterating over the map."""
        result = dict(self._below)
        for id_, value in self._above.items():
            if value is None:
                result.pop(id_, None)
            else:
                result[id_] = value
        return result

    def _changed(self, id_: int, value: Value | None) -> PersistentMap[Value]:
        above = {**self._above, id_: value}
        changed = PersistentMap(self._below, above)
        return PersistentMap(changed.whole()) if len(above) ** 2 > len(self._below) else changed

    def __getitem__(self, id_: int) -> Value:
        if id_ not in self._above:
            return self._below[id_]
        value = self._above[id_]
        if value is None:
            raise KeyError(id_)
        return value

    def __iter__(self) -> Iterator[int]:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self.whole())
