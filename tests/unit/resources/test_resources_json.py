"""The JSON files inside a run's ConfigMaps."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.resources.text import json_text

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="\u2028\u2029"))
)
VALUES = st.recursive(SCALARS, lambda v: st.lists(v) | st.dictionaries(st.text("ab<\u00e9"), v))


@given(VALUES)
def test_layout_of_the_standard_library(value: Any) -> None:
    """The layout is that of `json.dumps`, which people and formatters know."""
    assert json_text(value) == json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def test_scalars_are_canonical() -> None:
    """Numbers and separators are as in the text that is hashed, so that the chart can write the same file."""
    assert (
        json_text({"b": 1.0, "a": [0.00001, "\u2028"]})
        == '{\n  "a": [\n    0.00001,\n    "\\u2028"\n  ],\n  "b": 1\n}\n'
    )
