"""Durations as Spark reads them: "500ms", "60s", "2h".

Source: org.apache.spark.network.util.JavaUtils.timeStringAs. The text is lower-cased and trimmed, a whole
number (a minus sign is allowed) is followed by at most one unit. Each setting has its own unit for a number
without one: seconds for spark.dynamicAllocation.executorIdleTimeout, milliseconds for
spark.kubernetes.allocation.batch.delay. Converting rounds towards zero and stops at the largest long, as
java.util.concurrent.TimeUnit.convert does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sparkgen.grammar.error import GrammarError
from sparkgen.grammar.memory import BLANKS, LONGEST, MOST_DIGITS

UNITS: Mapping[str, int] = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
"""Unit as written -> microseconds."""

ALLOWED = 'a whole number with a Spark unit: us, ms, s, m (or min), h or d, as in "500ms", "60s" or "2h"'

MEANT: Mapping[str, str] = {
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "mins": "m",
    "minute": "m",
    "minutes": "m",
    "hr": "h",
    "hrs": "h",
    "hour": "h",
    "hours": "h",
    "day": "d",
    "days": "d",
    "msec": "ms",
    "millis": "ms",
}


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(r"(-?)([0-9]+)([a-z]+)?")


def to_microseconds(text: str, default_unit: str = "us") -> int:
    """The duration in whole microseconds; a number without a unit is in `default_unit`."""
    return _convert(text, default_unit, "us")


def to_milliseconds(text: str, default_unit: str = "ms") -> int:
    """The duration in whole milliseconds; a number without a unit is in `default_unit`."""
    return _convert(text, default_unit, "ms")


def to_seconds(text: str, default_unit: str = "s") -> int:
    """The duration in whole seconds; a number without a unit is in `default_unit`."""
    return _convert(text, default_unit, "s")


def _convert(text: str, default_unit: str, unit: str) -> int:
    lower = text.lower().strip(BLANKS)
    match = _pattern().fullmatch(lower)
    if match is None or (match[3] or default_unit) not in UNITS:
        raise _refused(lower)
    digits = match[2].lstrip("0") or "0"
    if len(digits) >= MOST_DIGITS or int(digits) > LONGEST:
        raise GrammarError("is too large for Spark")
    size = min(int(digits) * UNITS[match[3] or default_unit] // UNITS[unit], LONGEST)
    return -size if match[1] else size


def _refused(lower: str) -> GrammarError:
    """The error that says why a string is no duration, and what was probably meant."""
    if not lower:
        return GrammarError("is empty")
    parts = re.fullmatch(r"([0-9]+)(\.[0-9]*)?(\s*)([a-z]*)", lower)
    if parts is None:
        if re.fullmatch(r"(?:[0-9]+(?:d|h|m|s|ms|us))+", lower):
            return GrammarError("has more than one unit; Spark reads only one", _summed(lower))
        return GrammarError("is not a number with a unit")
    whole, fraction, gap, unit = parts.groups()
    meant = MEANT.get(unit, unit)
    if unit and meant not in UNITS:
        return GrammarError(f'has the unit "{unit}", which Spark does not know')
    if fraction is not None:
        return GrammarError("has a fraction, which Spark refuses", _without_fraction(whole + fraction, meant))
    suggestion = f"{whole}{meant}"
    if gap:
        return GrammarError("has a space before the unit", suggestion)
    return GrammarError(f'has the unit "{unit}", which Spark does not know', suggestion)


def _summed(text: str) -> str:
    """The sum of the parts, in the largest unit in which it is whole: 90m for 1h30m."""
    parts = re.findall(r"([0-9]{1,18})(d|h|ms|m|us|s)", text)
    microseconds = sum(int(number) * UNITS[unit] for number, unit in parts)
    return _in_largest_unit(microseconds)


def _without_fraction(number: str, unit: str) -> str:
    """The duration in a unit in which it is whole: 1500ms for 1.5s; "" without such a unit."""
    from decimal import Decimal  # noqa: PLC0415 - only to word an error

    if unit not in UNITS or len(number) > MOST_DIGITS:
        return ""
    microseconds = Decimal(number) * UNITS[unit]
    return _in_largest_unit(int(microseconds)) if microseconds == int(microseconds) else ""


def _in_largest_unit(microseconds: int) -> str:
    if microseconds > LONGEST:
        return ""
    for unit in ("h", "m", "s", "ms"):
        if microseconds % UNITS[unit] == 0:
            return f"{microseconds // UNITS[unit]}{unit}"
    return f"{microseconds}us"
