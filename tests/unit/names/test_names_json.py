"""The canonical JSON that runs are hashed over: Go's text, computed in Python."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.names import canonical_json, digest, number_text

# What Go 1.26 wrote for these numbers (Helm 4.2.4, `toRawJson`).
GO_NUMBERS = (
    (0, "0"),
    (1.0, "1"),
    (-0.0, "-0"),
    (0.1, "0.1"),
    (1.5, "1.5"),
    (0.0001, "0.0001"),
    (0.00001, "0.00001"),
    (0.000001, "0.000001"),
    (0.0000001, "1e-7"),
    (1.25e-10, "1.25e-10"),
    (5e-324, "5e-324"),
    (1e6, "1000000"),
    (1e15, "1000000000000000"),
    (1e16, "10000000000000000"),
    (1.2345678901234567e20, "123456789012345670000"),
    (1e21, "1e+21"),
    (-1.5e300, "-1.5e+300"),
    (2**53, "9007199254740992"),
)


@pytest.mark.parametrize(("number", "text"), GO_NUMBERS, ids=str)
def test_numbers_as_go_writes_them(number: float, text: str) -> None:
    """Whole floats lose their fraction, and the exponent starts where Go's encoder starts it."""
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_text_reads_back(number: float) -> None:
    """No text of a float loses a bit."""
    assert float(number_text(number)) == number


@given(st.integers())
def test_integers_are_exact(number: int) -> None:
    """An integer of any size keeps all its digits, so that two of them never share a hash."""
    assert number_text(number) == str(number)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "nan cannot be written as a JSON number"),
        (math.inf, "inf cannot be written as a JSON number"),
        (-math.inf, "-inf cannot be written as a JSON number"),
        ({1: "a"}, "1 is not a string"),
        ({"a": object()}, "cannot be written as a JSON number"),
    ],
    ids=["nan", "inf", "-inf", "number as key", "object"],
)
def test_what_json_cannot_say(value: Any, said: str) -> None:
    """A value without a JSON form is an error, never a text that nobody can read back."""
    with pytest.raises(ValueError, match=said):
        canonical_json(value)


def test_texts_as_go_writes_them() -> None:
    """Go escapes the two line separators, short escapes for control characters, and no HTML."""
    text = "\b\t\n\f\r\0\x1f\x7f\x85\"\\/<>&'\u2028\u2029\ufeff\u00e9\U0001f600"
    expected = '"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\x85\\"\\\\/<>&\'\\u2028\\u2029\ufeff\u00e9\U0001f600"'
    assert canonical_json(text) == expected


def test_layout() -> None:
    """Keys are sorted by code point (not by UTF-16), nothing is indented, tuples are lists."""
    value = {"\U0001f600": 1, "\uffee": 2, "b": [True, False, None], "a": ({}, [])}
    assert canonical_json(value) == '{"a":[{},[]],"b":[true,false,null],"\uffee":2,"\U0001f600":1}'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
    )
)
def test_canonical_json_reads_back(value: Any) -> None:
    """Canonical JSON is JSON, of the same value."""
    assert json.loads(canonical_json(value)) == value


def test_digest() -> None:
    """The digest is the SHA-256 of the canonical text, shortened on request."""
    assert digest({}, 8) == "44136fa3"
    assert digest({"b": 1.0, "a": 2}) == digest({"a": 2, "b": 1})
    assert len(digest({})) == 64
