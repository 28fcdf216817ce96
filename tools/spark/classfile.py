"""The constants of Java's class files: the texts that a class has, and the methods that it calls."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = 0xCAFEBABE
_UTF8, _CLASS, _STRING, _NAME_AND_TYPE = 1, 7, 8, 12
_REFERENCES = (9, 10, 11)  # a field, a method, and a method of an interface
_TWO_PLACES = (5, 6)  # long and double
_SIZES = {
    3: 4,
    4: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    15: 3,
    16: 2,
    17: 4,
    18: 4,
    19: 2,
    20: 2,
}
"""Tag of a constant -> the bytes behind it (The Java Virtual Machine Specification, 4.4)."""


@dataclass(frozen=True, slots=True)
class Constants:
    """What a class names. `references`: (class, member), with slashes in the class."""

    texts: frozenset[str]
    references: frozenset[tuple[str, str]]


def constants(data: bytes) -> Constants:
    """The constants of a class file."""
    pool = dict(_pool(data))

    def text(index: int) -> str:
        return pool[index][1].decode("utf-8", "replace")

    def name(index: int) -> str:
        return text(*struct.unpack(">H", pool[index][1][:2]))

    texts = [name(index) for index, (tag, _) in pool.items() if tag == _STRING]
    pairs = [struct.unpack(">HH", value) for tag, value in pool.values() if tag in _REFERENCES]
    return Constants(frozenset(texts), frozenset((name(owner), name(member)) for owner, member in pairs))


def _pool(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Index of a constant -> its tag and its bytes."""
    magic, _, count = struct.unpack(">IIH", data[:10])
    if magic != _MAGIC:
        raise ValueError("this is no class file")
    index, at = 1, 10
    while index < count:
        tag = data[at]
        at += 1
        if tag == _UTF8:
            size = struct.unpack(">H", data[at : at + 2])[0]
            at += 2
        else:
            size = _SIZES[tag]
        yield index, (tag, data[at : at + size])
        at += size
        index += 2 if tag in _TWO_PLACES else 1
