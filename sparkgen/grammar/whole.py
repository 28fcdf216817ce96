"""Whole numbers in texts from outside: Arabic digits of ASCII, and no more of them than any count needs.

`str.isdigit` is true of "²", which `int` refuses, and `int` refuses more than 4300 digits.
"""

from __future__ import annotations

import re

MOST_DIGITS = 18
"""Every number of these fits into a signed 64-bit word, as all readers of documents have."""
_DIGITS = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}")


def whole(text: str) -> int | None:
    """The number that the text is, without a sign or blanks; None where it is none."""
    return int(text) if _DIGITS.fullmatch(text) else None
