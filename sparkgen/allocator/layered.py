"""A map that is a value: another one with one entry changed shares all the rest with it.

What has changed is in a small second map above a large one. It is copied at each change, and merged into a
new large one once it has as many entries as the root of the large one: n changes of a map of n entries take
n times the root of n, and not n times n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from sparkgen.allocator.types import NOTHING

Value = TypeVar("Value")


class Layered(Mapping[int, Value]):
    """A map of executors' ids that never changes. What is given to it must not change, either."""

    __slots__ = ("_above", "_below")

    def __init__(self, below: Mapping[int, Value], above: Mapping[int, Value | None] = NOTHING) -> None:
        self._below = below
        self._above = above
        """What is other than below; None: it is not there any more."""

    def having(self, id_: int, value: Value) -> Layered[Value]:
        """The map with a value for an id."""
        return self._changed(id_, value)

    def without(self, id_: int) -> Layered[Value]:
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

    def _changed(self, id_: int, value: Value | None) -> Layered[Value]:
        above = {**self._above, id_: value}
        changed = Layered(self._below, above)
        return Layered(changed.whole()) if len(above) ** 2 > len(self._below) else changed

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
