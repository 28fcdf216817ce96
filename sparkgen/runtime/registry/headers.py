"""Numbers in the headers of a registry's answers, which may be anything. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[0-9]{1,18}")


def is_number(text: str) -> bool:
    """Whether a header is a number: `isdigit` takes digits that `int` does not, and any length."""
    return _NUMBER.fullmatch(text) is not None


def asked_pause(retry_after: str, longest: float, usual: float = 0.0) -> float:
    """The seconds for which a registry asks to be left alone (`longest` at most), or `usual`."""
    return min(float(retry_after), longest) if is_number(retry_after) else usual
