"""Times as Kubernetes writes them: "2026-03-01T06:00:00Z".

Source: RFC 3339, as k8s.io/apimachinery's metav1.Time reads it (Go's time.RFC3339: upper-case T and Z, a
zone is required). A leap second is refused, as in Go.
"""

from __future__ import annotations

import re

from sparkgen.grammar.error import GrammarError

ALLOWED = 'a time with its zone (RFC 3339), as in "2026-03-01T06:00:00Z" or "2026-03-01T06:00:00+01:00"'

_PATTERN = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,][0-9]+)?"
    r"(Z|([+-])([0-9]{2}):([0-9]{2}))"
)


def to_seconds(text: str) -> int:
    """The whole seconds since 1970-01-01T00:00:00Z; a fraction is ignored. Raises GrammarError."""
    match = re.fullmatch(_PATTERN, text)
    if match is None:
        raise _refused(text)
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    days = _days_since_1970(year, month, day)
    if hour > 23 or minute > 59 or second > 59:
        raise GrammarError("has a time of day that does not exist")
    offset = 0
    if match[7] != "Z":
        hours, minutes = int(match[9]), int(match[10])
        if hours > 23 or minutes > 59:
            raise GrammarError("has a zone that does not exist")
        offset = (hours * 3600 + minutes * 60) * (-1 if match[8] == "-" else 1)
    return days * 86_400 + hour * 3600 + minute * 60 + second - offset


def _days_since_1970(year: int, month: int, day: int) -> int:
    from datetime import date  # noqa: PLC0415 - a document without run.expiresAt does not need it

    try:
        return date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        raise GrammarError("is a date that does not exist") from None


def _refused(text: str) -> GrammarError:
    date = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    if not text:
        return GrammarError("is empty")
    if re.fullmatch(date, text):
        return GrammarError("has no time of day", f"{text}T00:00:00Z")
    if re.fullmatch(rf"{date}[Tt ][0-9:.]{{8,}}", text):
        return GrammarError("has no zone", f"{text[:10]}T{text[11:]}Z")
    if re.fullmatch(rf"{date} [0-9:.]{{8,}} ?(Z|[+-][0-9]{{2}}:[0-9]{{2}})", text):
        return GrammarError("has blanks", text[:10] + "T" + text[11:].replace(" ", ""))
    return GrammarError("is not in RFC 3339 format")
