"""Reads the answers of an API server: up to a size, as JSON of any depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkgen.cluster.channel import Answer
from sparkgen.jsonvalue import decode_object
from sparkgen.objects import Object

PIECE = 64 * 1024
"""The largest number of bytes of a stream that are read at once."""
LARGEST = 16 << 20
"""The most bytes of an answer, and of an event of a watch.

500 Jobs or pods have some 10 MiB. An object has at most 1.5 MiB in etcd, and at most six times that as JSON.
"""
MOST_PARTS = 2_000_000
"""The most maps, lists and fields of an answer, of up to 250 bytes in memory each.

An object of 1.5 MiB has fewer: each of them takes a byte or more in etcd, and so does a sign in a text.
"""
_SIGNS = (b"{", b"[", b":")


class TooLarge(Exception):
    """An answer is larger than what is read; the text says how large an answer may be."""


def whole_of(answer: Answer) -> bytes:
    """Returns the body of an answer. Raises TooLarge if it has more bytes than LARGEST."""
    data = bytearray()
    for piece in answer.stream(PIECE, decode_content=True):
        data += piece
        if len(data) > LARGEST:
            answer.close()
            raise TooLarge(in_mib(LARGEST))
    return bytes(data)


def decoded(data: bytes, *, managed: bool = True) -> Object:
    """Returns the object in an answer. Raises TooLarge above MOST_PARTS, and ValueError for anything else.

    Without `managed`, without the record of who set which field, which may be half of a list.
    """
    if sum(map(data.count, _SIGNS)) > MOST_PARTS:
        raise TooLarge(f"{MOST_PARTS:,} fields and items")
    value = decode_object(data, None if managed else _without_fields)
    if not isinstance(value, dict):
        raise ValueError("the answer is not an object")
    return value


def in_mib(most: int) -> str:
    """Returns a number of bytes as text."""
    return f"{most >> 20} MiB"


def events(pieces: Iterator[bytes]) -> Iterator[Object]:
    """Yields the objects of a stream, one on each line. Raises as `whole_of` and `decoded` do."""
    rest = bytearray()
    for piece in pieces:
        first, *more = piece.split(b"\n")
        rest += first
        for line in more:
            if rest:
                yield decoded(bytes(rest), managed=False)
            rest = bytearray(line)
        if len(rest) > LARGEST:
            raise TooLarge(in_mib(LARGEST))


def _without_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Drops the fields in an entry of metadata.managedFields."""
    if value.get("fieldsType") == "FieldsV1":
        value.pop("fieldsV1", None)
    return value
