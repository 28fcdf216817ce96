"""The constants of Java's class files: a class's texts, its parents, and the methods that it calls."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_MAGIC = 0xCAFEBABE
_UTF8, _CLASS, _STRING, _NAME_AND_TYPE = 1, 7, 8, 12
_REFERENCES = (9, 10, 11)  # a field, a method, and a method of an interface
_TWO_PLACES = (5, 6)  # long and double
_SIZES = {
    **dict.fromkeys((3, 4, 9, 10, 11, 12, 17, 18), 4),
    **dict.fromkeys((5, 6), 8),
    **dict.fromkeys((7, 8, 16, 19, 20), 2),
    15: 3,
}
"""Tag of a constant -> the bytes behind it (The Java Virtual Machine Specification, 4.4)."""


@dataclass(frozen=True, slots=True)
class Constants:
    """What a class names; names of classes have slashes.

    `references`: (class, member). `parents`: the class that it extends, and its interfaces.
    """

    name: str
    parents: frozenset[str]
    texts: frozenset[str]
    references: frozenset[tuple[str, str]]


def constants(data: bytes) -> Constants:
    """The constants of a class file."""
    pool, end = _pool(data)

    def text(index: int) -> str:
        return pool[index][1].decode("utf-8", "replace")

    def name(index: int) -> str:
        return text(*struct.unpack(">H", pool[index][1][:2]))

    own, parent, count = struct.unpack(">HHH", data[end + 2 : end + 8])
    interfaces = struct.unpack(f">{count}H", data[end + 8 : end + 8 + 2 * count])
    texts = [name(index) for index, (tag, _) in pool.items() if tag == _STRING]
    pairs = [struct.unpack(">HH", value) for tag, value in pool.values() if tag in _REFERENCES]
    return Constants(
        name(own),
        frozenset(name(index) for index in (parent, *interfaces) if index),
        frozenset(texts),
        frozenset((name(owner), name(member)) for owner, member in pairs),
    )


def _pool(data: bytes) -> tuple[dict[int, tuple[int, bytes]], int]:
    """Index of a constant -> its tag and its bytes; and where the constants end."""
    magic, _, count = struct.unpack(">IIH", data[:10])
    if magic != _MAGIC:
        raise ValueError("this is no class file")
    found = {}
    index, at = 1, 10
    while index < count:
        tag = data[at]
        at += 1
        if tag == _UTF8:
            size = struct.unpack(">H", data[at : at + 2])[0]
            at += 2
        else:
            size = _SIZES[tag]
        found[index] = (tag, data[at : at + size])
        at += size
        index += 2 if tag in _TWO_PLACES else 1
    return found, at
