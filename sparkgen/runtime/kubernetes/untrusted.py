"""Reads untrusted JSON, with checks of types and sizes. Pure.

It may come from an API server, from a proxy before it, from another's pod, or from user code in the driver.
`null` counts as absent, as in Kubernetes. A value of another type than expected raises Malformed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkgen.unseen import FILLERS, FORMAT

MAX_NAME = 1024
"""The most characters of a name, a label's value, a reason or a version: Kubernetes allows no longer ones."""
MAX_TEXT = 8192
"""The most characters of a message; of a longer one, the two ends are kept."""
GREATEST = 2**31 - 1
"""The largest number: exit codes, ports and ids are 32 bits wide in Kubernetes and in Spark."""

_UNSHOWN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{FORMAT}{FILLERS}]")
"""Control characters (terminal escapes consist of them), characters that override the text direction, those
that nobody sees, and halves of surrogate pairs, which UTF-8 cannot encode: writing one to a log raises an
error."""


class Malformed(ValueError):
    """A value has the wrong type or size; the text says which one."""


def is_whole(value: Mapping[str, Any]) -> bool:
    """Whether a decoded value is an object with a specification: an item of a list, or a template in one."""
    return isinstance(value.get("metadata"), dict) and "spec" in value


def shown(text: str) -> str:
    """The text made safe for logs, terminals and labels: unprintable characters are replaced."""
    return text if text.isascii() and text.isprintable() else _UNSHOWN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """JSON in which these characters are escaped: it still has the same value."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    """JSON writes characters beyond 16 bits as two escapes."""
    data = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """An object; an empty one if it is absent."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(name, value, "an object")
    return value


def objects(value: object, name: str) -> list[Mapping[str, Any]]:
    """A list of objects; an empty one if it is absent. A null in the list raises Malformed."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(name, value, "a list")
    for entry in value:
        if not isinstance(entry, dict):
            raise _wrong(f"an entry of {name}", entry, "an object")
    return value


def name_in(values: Mapping[str, Any], key: str) -> str:
    """A short text, such as a name, a version or a reason; "" if it is absent."""
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, value, "a string")
    if len(value) > MAX_NAME:
        raise Malformed(f"{key} has {len(value)} characters, and the limit is {MAX_NAME}")
    return shown(value)


def message_in(values: Mapping[str, Any], key: str) -> str:
    """A text for people; "" if it is absent. A long one is reduced to its two ends."""
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(key, value, "a string")
    if len(value) > MAX_TEXT:
        value = f"{value[: MAX_TEXT // 2 - 1]}…{value[-MAX_TEXT // 2 :]}"
    return shown(value)


def number_in(values: Mapping[str, Any], key: str) -> int | None:
    """A whole number of 32 bits; None if it is absent."""
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
