"""Sizes as Spark reads them: "512m", "4g".

Source: org.apache.spark.network.util.JavaUtils.byteStringAs and ByteUnit. The text is lower-cased and
trimmed, a number without a sign or a fraction is followed by at most one unit, and every unit is a power
of 1024. Each setting has its own unit for a number without one: MiB for spark.executor.memory and
spark.driver.memoryOverhead, bytes for spark.memory.offHeap.size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from sparkgen.grammar.error import GrammarError

UNITS: Mapping[str, int] = {
    "b": 1,
    "k": 2**10,
    "kb": 2**10,
    "m": 2**20,
    "mb": 2**20,
    "g": 2**30,
    "gb": 2**30,
    "t": 2**40,
    "tb": 2**40,
    "p": 2**50,
    "pb": 2**50,
}
"""Unit as written -> bytes."""

ALLOWED = 'a whole number with a Spark unit (k, m, g, t or p), as in "512m" or "4g"'

LONGEST = 2**63 - 1
"""The most bytes: Spark counts in Java's long."""

MOST_DIGITS = 20
"""A number with this many digits is larger than any long."""

BLANKS = "".join(map(chr, range(33)))
"""The characters that Java's String.trim removes."""


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(r"([0-9]+)([a-z]+)?")


def to_bytes(text: str, default_unit: str = "b") -> int:
    """The size in bytes; a number without a unit is in `default_unit`. Raises GrammarError."""
    lower = text.lower().strip(BLANKS)
    match = _pattern().fullmatch(lower)
    if match is None or (match[2] or default_unit) not in UNITS:
        raise _refused(text, lower)
    digits = match[1].lstrip("0")
    size = int(digits or "0") * UNITS[match[2] or default_unit] if len(digits) < MOST_DIGITS else LONGEST + 1
    if size > LONGEST:
        raise GrammarError("is too large for Spark")
    return size


def to_mib(text: str, default_unit: str = "m") -> int:
    """The size in whole MiB, rounded down as ByteUnit.convertFrom does."""
    return to_bytes(text, default_unit) // 2**20


def _refused(text: str, lower: str) -> GrammarError:
    """The error that says why a string is no size, and what was probably meant."""
    if not lower:
        return GrammarError("is empty")
    parts = re.fullmatch(r"([+-]?)([0-9]+)(\.[0-9]*)?(\s*)([a-z]*)", lower)
    if parts is None:
        return GrammarError("is not a number with a unit")
    sign, whole, fraction, gap, unit = parts.groups()
    short = unit.removesuffix("b").removesuffix("i") or ("b" if unit == "b" else "")
    if sign == "-":
        return GrammarError("is negative")
    if unit and short not in UNITS:
        return GrammarError(f'has the unit "{unit}", which Spark does not know')
    if fraction is not None:
        return GrammarError("has a fraction, which Spark refuses", _without_fraction(whole + fraction, short))
    suggestion = f"{int(whole)}{short}" if len(whole) < MOST_DIGITS else ""
    if sign:
        return GrammarError("has a sign", suggestion)
    if gap:
        return GrammarError("has a space before the unit", suggestion)
    written = text.strip(BLANKS)[-len(unit) :]
    reason = f'has the Kubernetes unit "{written}"; Spark uses "{short}"'
    return GrammarError(reason, suggestion)


def _without_fraction(number: str, unit: str) -> str:
    """The size in the next smaller unit: 512m for 0.5g; "" if it is not whole in this unit either."""
    from decimal import Decimal  # noqa: PLC0415 - only to word an error

    smaller = {"k": "b", "m": "k", "g": "m", "t": "g", "p": "t"}.get(unit)
    if smaller is None or len(number) > MOST_DIGITS:
        return ""
    size = Decimal(number) * 1024
    return f"{int(size)}{smaller}" if size == int(size) else ""
