"""Quantities as Kubernetes reads them: "500m", "1.5", "2Gi", "1e3".

Source: k8s.io/apimachinery/pkg/api/resource, quantity.go (ParseQuantity) and suffix.go. Upper and lower
case matter: "m" is a thousandth, "M" a million, "Mi" 1024 x 1024. As in Kubernetes, a value finer than one
billionth is rounded away from zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_UP, Context, Decimal
from functools import cache

from sparkgen.grammar.error import GrammarError

SUFFIXES: Mapping[str, Decimal] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
    "E": Decimal("1e18"),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
"""Suffix as written -> factor."""

ALLOWED = 'a number with at most one Kubernetes suffix: m, k, M, G, T, Ki, Mi, Gi, Ti, as in "500m" or "2Gi"'

LONGEST_TEXT = 64
LARGEST_EXPONENT = 30
"""Larger than the amount of any resource; Kubernetes itself stops at 2^63 - 1."""
_SMALLEST_EXPONENT = -100
"""With this exponent or a smaller one, no text reaches a billionth: each is rounded to that, or is zero."""

_EXACT = Context(prec=120, rounding=ROUND_UP)


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        r"([+-]?)(?=\.?[0-9])([0-9]*(?:\.[0-9]*)?)(?:([eE])([+-]?[0-9]+)|([numkMGTPE]|[KMGTPE]i)?)"
    )


def parse(text: str) -> Decimal:
    """The exact value of a quantity, in the resource's unit (cores, bytes, pieces). Raises GrammarError."""
    if len(text) > LONGEST_TEXT:
        raise GrammarError("is too long for a quantity")
    match = _pattern().fullmatch(text)
    if match is None:
        raise _refused(text)
    sign, number, exponential, exponent, suffix = match.groups()
    factor = SUFFIXES[suffix or ""]
    if exponential:
        if int(exponent) > LARGEST_EXPONENT:
            raise GrammarError("has an exponent that is too large")
        factor = Decimal(f"1e{max(int(exponent), _SMALLEST_EXPONENT)}")
    value = _EXACT.multiply(Decimal(number), factor)
    if _EXACT.remainder(value, SUFFIXES["n"]) != 0:
        value = value.quantize(SUFFIXES["n"], context=_EXACT)
    return value.copy_negate() if sign == "-" else value


def format_quantity(value: Decimal) -> str:
    """A quantity's text in decimal form: whole if possible, otherwise in thousandths, or else billionths."""
    if value == value.to_integral_value():
        return str(int(value))
    thousandths = _EXACT.multiply(value, Decimal(1000))
    if thousandths == thousandths.to_integral_value():
        return f"{int(thousandths)}m"
    return f"{int(_EXACT.multiply(value, Decimal(10**9)))}n"


def _refused(text: str) -> GrammarError:
    """The error that says why a string is no quantity, and what was probably meant."""
    if not text:
        return GrammarError("is empty")
    if re.fullmatch(r"[0-9]{1,9},[0-9]{1,9}", text, re.ASCII):
        return GrammarError("has a decimal comma instead of a point", text.replace(",", "."))
    parts = re.fullmatch(r"\s*([0-9]++(?:\.[0-9]++)?)(\s*+)([A-Za-z]*+)\s*+", text, re.ASCII)
    if parts is None:
        return GrammarError("is not a number with a suffix")
    number, gap, unit = parts.groups()
    if unit in SUFFIXES:
        where = "before its suffix" if gap else "around it"
        return GrammarError(f"has a space {where}", f"{number}{unit}")
    binary = unit[:1].upper() + "i"
    if unit.lower() in {"kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "g", "t", "ki", "mi", "gi", "ti"}:
        return GrammarError(f'has the suffix "{unit}", which Kubernetes does not know', f"{number}{binary}")
    if unit.lower() in {"core", "cores", "cpu", "cpus", "vcpu"}:
        return GrammarError(f'has the suffix "{unit}"; a count of cores has none', number)
    return GrammarError(f'has the suffix "{unit}", which Kubernetes does not know')
