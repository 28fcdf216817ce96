"""Reads JSON from outside: an error of any kind is a ValueError. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def decode(data: bytes | str, hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Decodes JSON. Raises ValueError for invalid JSON, also if it is nested too deeply.

    `hook` is called with each object as soon as it is read; its result replaces the object.
    """
    try:
        return json.loads(data, object_hook=hook)  # noqa: TID251 - here
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
