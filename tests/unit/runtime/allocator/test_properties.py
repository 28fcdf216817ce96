"""Java's properties, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.resources.text import properties_text
from sparkgen.runtime.allocator.driver import properties

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x1c\x1d\x1e\x85"), min_size=1, max_size=20)
VALUES = st.text(st.characters(codec="utf-8"), max_size=30).map(str.strip)
"""Spark trims values: what is around them cannot be said."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 1\nb=2\nc:3\n", {"a": "1", "b": "2", "c": "3"}),
        ("a = b = c", {"a": "b = c"}),
        ("  # no\n! no\n\n a\t1 ", {"a": "1"}),
        ("a=one \\\n   two", {"a": "one two"}),
        ("a=one\\\\\nb=2", {"a": "one\\", "b": "2"}),
        ("a\\ b\\=c=\\u00e9\\t|\\q", {"a b=c": "é\t|q"}),
        ("a", {"a": ""}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=\\", {"a": ""}),
        ("", {}),
    ],
)
def test_as_java_reads_them(text: str, expected: dict[str, str]) -> None:
    """The cases of java.util.Properties.load's documentation."""
    assert properties.parse(text) == expected


def test_a_malformed_escape() -> None:
    """Java refuses it, too."""
    with pytest.raises(ValueError, match="four hexadecimal digits"):
        properties.parse("a=\\u12")


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_what_is_written_is_read_back(found: dict[str, str]) -> None:
    """Whatever names and values hold."""
    assert properties.parse(properties.text_of(found)) == found


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_what_the_generator_writes_is_read_back(found: dict[str, str]) -> None:
    """spark-defaults.conf comes from the generator's own writer."""
    assert properties.parse(properties_text(found.items())) == found
