"""Mappings that are values: an empty one, and one that shares what has not changed with its successor.

What has changed in the second one is in a small map above a large one. The small map is copied at each
change, and merged into a new large one once it has as many entries as the root of the large one: n changes
of a map of n entries take n times the root of n, and not n times n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class _EmptyMap(Mapping[Any, Any]):
    """An empty mapping that nobody can change, and that dataclasses take as a default, as it has a hash."""

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
"""The default of every mapping below."""


class PersistentMap(Mapping[int, Value]):
    """A map of executors' ids that never changes. What is given to it must not change, either."""

    __slots__ = ("_above", "_below")

    def __init__(self, below: Mapping[int, Value], above: Mapping[int, Value | None] = EMPTY_MAP) -> None:
        self._below = below
        self._above = above
        """What is other than below; None: it is not there any more."""

    def having(self, id_: int, value: Value) -> PersistentMap[Value]:
        """The map with a value for an id."""
        return self._changed(id_, value)

    def without(self, id_: int) -> PersistentMap[Value]:
        """The map less an id."""
        return self._changed(id_, None) if id_ in self else self

    def whole(self) -> dict[int, Value]:
        """All of it as one dict of the caller's own: faster than to go through the map."""
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
