"""How a registry asks for a login, and what it is answered.

Basic, or a token of the server that it names: https://distribution.github.io/distribution/spec/auth/token/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SCHEME = re.compile(r"\s*(?:,\s*)?(Basic|Bearer)\b", re.IGNORECASE)
_PARAMETER = re.compile(r'\s*,?\s*([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')


@dataclass(frozen=True, slots=True)
class Challenge:
    """What an answer 401 asks for. `scheme`: basic or bearer; the rest is of bearer's."""

    scheme: str
    realm: str = ""
    service: str = ""
    scope: str = ""


def challenge(header: str) -> Challenge | None:
    """What a WWW-Authenticate header asks for: a token rather than a password; None for nothing known."""
    found: dict[str, Mapping[str, str]] = {}
    position = 0
    while match := _SCHEME.match(header, position):
        position, parameters = match.end(), {}
        while parameter := _PARAMETER.match(header, position):
            parameters[parameter[1].lower()] = parameter[2] if parameter[2] is not None else parameter[3]
            position = parameter.end()
        found[match[1].lower()] = parameters
    if bearer := found.get("bearer"):
        return Challenge(
            "bearer", bearer.get("realm", ""), bearer.get("service", ""), bearer.get("scope", "")
        )
    return Challenge("basic") if "basic" in found else None
