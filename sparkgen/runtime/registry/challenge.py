"""What a registry asks for in the header WWW-Authenticate. Pure.

Basic, or a token of the server that it names: https://distribution.github.io/distribution/spec/auth/token/.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 8192
"""Characters of the header that are read: a realm, a service and a scope need a few hundred."""

# Each character is looked at a fixed number of times, whatever the header is.
_WORD = re.compile(r'[\s,]*([A-Za-z0-9_-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?')


@dataclass(frozen=True, slots=True)
class Challenge:
    """What an answer 401 asks for. `scheme`: basic or bearer; the rest is of bearer's."""

    scheme: str
    realm: str = ""
    service: str = ""


def challenge(header: str) -> Challenge | None:
    """What the header asks for: a token rather than a password; None for nothing known."""
    found: dict[str, dict[str, str]] = {}
    parameters: dict[str, str] = {}
    position = 0
    header = header[:LONGEST]
    while word := _WORD.match(header, position):
        position = word.end()
        value = word[2] if word[2] is not None else word[3]
        if value is None:
            parameters = found.setdefault(word[1].lower(), {})
        else:
            parameters[word[1].lower()] = value
    if bearer := found.get("bearer"):
        return Challenge("bearer", bearer.get("realm", ""), bearer.get("service", ""))
    return Challenge("basic") if "basic" in found else None
