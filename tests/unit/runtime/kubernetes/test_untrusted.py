"""Text of others in logs, Events and JSON."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest

from sparkgen.runtime.kubernetes.untrusted import escaped, shown

SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters (Cf) with a shape."""
JOINERS = "\u200c\u200d"
"""Emoji and some scripts need them."""


def test_no_format_character_is_hidden() -> None:
    """Neither in a text nor in JSON, whose value stays the same."""
    for char in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.category(char) == "Cf" and char not in SIGNS + JOINERS:
            assert shown(f"pay{char}pal") == "pay\ufffdpal"
            text = json.dumps(f"a{char}b", ensure_ascii=False)
            assert char not in escaped(text)
            assert json.loads(escaped(text)) == f"a{char}b"


@pytest.mark.parametrize(
    "char",
    ["\u3164", "\u034f", "\u2800", "\U0001107f", "\U00016fe4", "\U0001d159", "\x1b", "\ud800", "\u2028"],
)
def test_nothing_else_hides(char: str) -> None:
    """Fillers, control characters, halves of pairs."""
    assert shown(f"a{char}b") == "a\ufffdb"


@pytest.mark.parametrize("text", ["größer", "日本語", "👩\u200d💻", "❤\ufe0f", "a\tb\n"])
def test_what_people_write_stays(text: str) -> None:
    """Letters of all scripts, and emoji."""
    assert shown(text) == escaped(text) == text
