"""What the end of the allocator's log says: how many executors are wanted, and what hinders. Pure.

Its lines are those of `log_lines` and `reasons` in sparkgen.runtime: text or as JSON (SPARKGEN_LOG_FORMAT).
"""

from __future__ import annotations

import json
import re

_TARGET = re.compile(r"the driver's target: (\d+) wanted|\b\d+ of (\d+) executors\b")
_DECISION = re.compile(r"\b\d+ of \d+ executors\b")
_HINDRANCE = re.compile(
    r"; (?:executors are not shown: |(?:refused|failing to start), next try in \d+ s: "
    r"|(?=\d+ pending, |\d+ ha(?:ve|s) no node, |the next batch waits ))(.*)"
)
_LATER = re.compile(r"; (?:\d+ pending, |\d+ ha(?:ve|s) no node, |the next batch waits )")
_STOPS = re.compile(r"the application (?:has to stop|fails): (.*)")
_WARNING = re.compile(r"^\S+ (?:warning|error) +(.*)")


def wanted(log: str) -> int | None:
    """How many executors the driver wants; None when the log does not say."""
    for line in reversed(_lines(log)):
        if found := [*_TARGET.finditer(line)]:
            return int(found[-1][1] or found[-1][2])
    return None


def hindrance(log: str) -> str:
    """What keeps executors from coming now, in the allocator's words; "" when nothing does."""
    for line in reversed(_lines(log)):
        if found := _STOPS.search(line):
            return found[1]
        if _DECISION.search(line):
            found = _HINDRANCE.search(line)
            return _LATER.split(found[1])[0] if found else ""
        if (found := _WARNING.search(line)) and "cannot " in found[1]:
            return found[1]
    return ""


def _lines(log: str) -> list[str]:
    return [_plain(line) for line in log.splitlines()]


def _plain(line: str) -> str:
    """A line as text, whichever form it was written in."""
    if not line.startswith("{"):
        return line
    try:
        body = json.loads(line)
    except ValueError:
        return line
    return f"{body.get('time')} {body.get('level')} {body.get('message')}" if isinstance(body, dict) else line
