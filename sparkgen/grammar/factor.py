"""Decimal factors such as spark.kubernetes.memoryOverheadFactor: "0.1", "0.4".

Source: Spark's ConfigBuilder(...).doubleConf (String.toDouble), with the check that the memory overhead
factor is greater than zero (org.apache.spark.internal.config: DRIVER_MEMORY_OVERHEAD_FACTOR). Forms that
Java accepts but nobody writes (hexadecimal, "NaN", a trailing "d") are refused.
"""

from __future__ import annotations

import re
from decimal import Decimal

from sparkgen.grammar.error import GrammarError
from sparkgen.grammar.memory import BLANKS

ALLOWED = 'a decimal number above zero, as in "0.1"'

LONGEST_TEXT = 40


def parse(text: str) -> Decimal:
    """The exact value of a factor, always above zero. Raises GrammarError."""
    trimmed = text.strip(BLANKS)
    if not re.fullmatch(r"\+?([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]{1,2})?", trimmed):
        raise _refused(trimmed)
    if len(text) > LONGEST_TEXT:
        raise GrammarError("is too long for a factor")
    value = Decimal(trimmed)
    if value == 0:
        raise GrammarError("is zero; Spark needs a factor above zero")
    return value


def _refused(text: str) -> GrammarError:
    if not text:
        return GrammarError("is empty")
    percent = re.fullmatch(r"([0-9]{1,6})\s*%", text, re.ASCII)
    if percent:
        return GrammarError("is a percentage", str((Decimal(percent[1]) / 100).normalize()))
    if re.fullmatch(r"[0-9]{1,6},[0-9]{1,6}", text, re.ASCII):
        return GrammarError("has a decimal comma instead of a point", text.replace(",", "."))
    if text.startswith("-"):
        return GrammarError("is negative; Spark needs a factor above zero")
    return GrammarError("is not a decimal number")
