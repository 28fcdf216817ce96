"""Whole numbers in strings from outside: ASCII digits, and no more of them than any count needs.

`str.isdigit` is true for "²", which `int` refuses, and `int` refuses more than 4300 digits.
"""

from __future__ import annotations

import re

MOST_DIGITS = 18
"""Every number with this many digits fits into a signed 64-bit integer, as all readers of documents use."""
_DIGITS = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}")


def whole(text: str) -> int | None:
    """The number in a string of digits, without a sign or blanks; None for any other string."""
    return int(text) if _DIGITS.fullmatch(text) else None
