"""Reads the answers of an API server: up to a size, as JSON of any depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sparkgen.cluster.channel import Answer
from sparkgen.jsonvalue import decode_object
from sparkgen.objects import Object

PIECE = 64 * 1024
"""The largest number of bytes of a stream that are read at once."""
LARGEST = 64 << 20
"""The most bytes of an answer about one object, and of an event of a watch: etcd's objects have a few MiB."""


class TooLarge(Exception):
    """An answer has more bytes than are read; the text says how many those are."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most >> 20} MiB")


def whole_of(answer: Answer, most: int = LARGEST) -> bytes:
    """Returns the body of an answer. Raises TooLarge if it has more bytes than `most`."""
    data = bytearray()
    for piece in answer.stream(PIECE, decode_content=True):
        data += piece
        if len(data) > most:
            answer.close()
            raise TooLarge(most)
    return bytes(data)


def decoded(data: bytes, *, managed: bool = True) -> Object:
    """Returns the object in an answer. Raises ValueError for anything else.

    Without `managed`, without the record of who set which field, which may be half of a list.
    """
    value = decode_object(data, None if managed else _without_fields)
    if not isinstance(value, dict):
        raise ValueError("the answer is not an object")
    return value


def events(pieces: Iterator[bytes]) -> Iterator[Any]:
    """Yields the JSON values of a stream, one on each line. Raises TooLarge above LARGEST."""
    rest = bytearray()
    for piece in pieces:
        first, *more = piece.split(b"\n")
        rest += first
        for line in more:
            if rest:
                yield decode_object(bytes(rest), _without_fields)
            rest = bytearray(line)
        if len(rest) > LARGEST:
            raise TooLarge(LARGEST)


def _without_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Drops the fields in an entry of metadata.managedFields."""
    if value.get("fieldsType") == "FieldsV1":
        value.pop("fieldsV1", None)
    return value
