"""Reads JSON from outside: an error of any kind is a ValueError. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

DEEPEST = 200
"""The most levels of an object that are read when Python cannot read all of them. Kubernetes' own types have
fewer than 40."""

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
"""A text, up to the end of the data if it has no end; or a bracket outside of a text."""


def decode(data: bytes | bytearray | str, hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Decodes JSON. Raises ValueError for invalid JSON, also if it is nested too deeply.

    `hook` is called with each object as soon as it is read; its result replaces the object.
    """
    try:
        return json.loads(data, object_hook=hook)  # noqa: TID251 - here
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def decode_object(data: bytes, hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Decodes an object of a Kubernetes cluster, or a list of objects. Raises ValueError for invalid JSON.

    Kubernetes stores metadata.managedFields of up to 10,000 levels, and anybody writes them into an object of
    their own. Python reads some 1,000: then, what is deeper than DEEPEST is null.
    """
    try:
        return json.loads(data, object_hook=hook)  # noqa: TID251 - here
    except RecursionError:
        pass  # The error keeps what was read so far in memory. So the cut text is read only after it.
    return decode(_cut(data), hook)


def _cut(data: bytes) -> bytes | bytearray:
    """Returns JSON in which objects and lists deeper than DEEPEST are null. Invalid JSON stays invalid.

    But inside of what is cut out, only the brackets are counted.
    """
    kept = bytearray()  # not a list: each part of a list costs 80 bytes
    level = start = 0
    for found in _TOKEN.finditer(data):
        token = found[0]
        if token in (b"{", b"["):
            level += 1
            if level == DEEPEST + 1:
                kept += data[start : found.start()]
                kept += b"null"
        elif token in (b"}", b"]"):
            if level == DEEPEST + 1:
                start = found.end()
            level -= 1
    kept += data[start:]
    return kept if level <= DEEPEST else b""
