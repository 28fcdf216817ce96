"""JSON from outside: what is nested too deeply for Python, and what is no JSON."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen import jsonvalue
from sparkgen.jsonvalue import DEEPEST, decode_object
from tests.unit.deep import DEEP, FIELDS, LEVELS, MANAGED, as_json, wide

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\{}[],:\u2028\n')),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def cut(value: Any, levels: int) -> Any:
    """The value with null in the place of what is deeper than so many levels."""
    if isinstance(value, dict):
        return {key: cut(one, levels - 1) for key, one in value.items()} if levels else None
    if isinstance(value, list):
        return [cut(one, levels - 1) for one in value] if levels else None
    return value


@given(VALUES, st.integers(0, 5), st.booleans())
def test_what_is_too_deep_is_null(value: Any, levels: int, spaced: bool) -> None:
    """Brackets and quotation marks in texts are no brackets."""
    text = json.dumps(value, indent=1 if spaced else None).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonvalue, "DEEPEST", levels)
        assert json.loads(jsonvalue._cut(text)) == cut(value, levels)


def test_an_object_of_ten_thousand_levels_is_read() -> None:
    """What a neighbour writes into managedFields takes nothing from the rest of a list."""
    body = {"items": [{"metadata": {"managedFields": MANAGED, "name": "a"}}, {"metadata": {"name": "b"}}]}
    found = decode_object(as_json(body))
    assert [item["metadata"]["name"] for item in found["items"]] == ["a", "b"]
    levels, inner = 0, found["items"][0]["metadata"]["managedFields"][0]["fieldsV1"]
    while inner is not None:
        levels, inner = levels + 1, inner.get("f:a")
    above = 6  # the body, its items, an item, its metadata, managedFields, a manager
    assert levels + above in (DEEPEST, LEVELS + above + 1)  # the second, if this Python reads all


def test_what_is_cut_needs_little_memory() -> None:
    """Also where each of many fields is cut out."""
    data = wide(jsonvalue.DEEPEST)
    tracemalloc.start()
    assert jsonvalue._cut(data).count(b":null") == FIELDS
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a":' * 5000,
        b"[" * 5000,
        as_json(DEEP)[:-1],
        as_json(DEEP) + b"}",
        as_json([DEEP]) + b'"\\"' * 5000,
    ],
    ids=["open objects", "open lists", "cut off", "one too many", "texts behind it"],
)
def test_invalid_json_stays_invalid(data: bytes) -> None:
    """However deep it is."""
    with pytest.raises(ValueError, match=r"char 0|Expecting|Extra data|delimiter|value"):
        decode_object(data)
