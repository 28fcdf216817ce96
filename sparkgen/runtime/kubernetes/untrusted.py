"""JSON that somebody else has sent, read by type and bounded. Pure.

An API server, what stands between it and us, another's pod, or user code in the driver may have written it.
`null` counts as absent, as Kubernetes has it. What has another type than expected is Malformed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

MAX_NAME = 1024
"""Characters of a name, a label's value, a reason, a version: no bound of Kubernetes' is higher."""
MAX_TEXT = 8192
"""Characters of a message; of a longer one, the two ends are kept."""
GREATEST = 2**31 - 1
"""Of numbers: exit codes, ports and ids are 32 bits wide in Kubernetes and in Spark."""

_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls (terminal escapes are made of them), overrides of the direction, and halves of surrogate pairs,
which no UTF-8 has: a log that meets one ends with an error."""


class Malformed(ValueError):
    """A value is not of the type that it has to be; the text says which."""


def decode(data: bytes | str, hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """JSON as values; ValueError when it is none, also when it is nested deeper than anybody reads.

    `hook` is given each object as soon as it is read, and what it returns takes its place.
    """
    try:
        return json.loads(data, object_hook=hook)
    except RecursionError:
        raise Malformed("it is nested too deeply") from None


def shown(text: str) -> str:
    """A text fit for logs, terminals and labels: what would be no character there is replaced."""
    return text if text.isascii() and text.isprintable() else _UNSHOWN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """JSON in which the same characters are escapes: the same value for whoever reads it."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """An object; an empty one where there is none."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(name, value, "an object")
    return value


def objects(value: object, name: str) -> list[Mapping[str, Any]]:
    """A list of objects; an empty one where there is none. A null in it is no object."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, value, "a list")
    for entry in value:
        if not isinstance(entry, dict):
            raise _wrong(f"an entry of {name}", entry, "an object")
    return value


def name_in(values: Mapping[str, Any], key: str) -> str:
    """A name, a version, a reason: a short text; "" where there is none."""
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, value, "a string")
    if len(value) > MAX_NAME:
        raise Malformed(f"{key} has {len(value)} characters, and the limit is {MAX_NAME}")
    return shown(value)


def message_in(values: Mapping[str, Any], key: str) -> str:
    """A text for people; "" where there is none. Of a long one, the two ends."""
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, value, "a string")
    if len(value) > MAX_TEXT:
        value = f"{value[: MAX_TEXT // 2 - 1]}…{value[-MAX_TEXT // 2 :]}"
    return shown(value)


def number_in(values: Mapping[str, Any], key: str) -> int | None:
    """A whole number of 32 bits; None where there is none."""
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(key, value, "a whole number")
    if abs(value) > GREATEST:
        raise Malformed(f"{key} does not fit into 32 bits")
    return int(value)


def _wrong(name: str, value: object, expected: str) -> Malformed:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return Malformed(f"{name} must be {expected}, not {kinds.get(type(value), 'a number')}")
