"""Values of a container's environment."""

from __future__ import annotations

from collections.abc import Mapping

from sparkgen.runtime.exits import Refused


def port(environment: Mapping[str, str], name: str, least: int = 1) -> int | None:
    """A port; None where there is no such variable, or an empty one.

    Refused for what is no port, or less than `least`.
    """
    text = environment.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and least <= int(text) <= 65535):
        raise Refused(f"{name} must be a port, not {text[:100]!r}")
    return int(text)
