"""Laws of laying one object over another."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.resources.merge import APPENDED, MERGE_KEYS, WHOLE, merge

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.integers(0, 3) | st.booleans() | NAMES


def items(key: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Items of a list with a merge key, each key once, as a valid document has them."""
    fields = st.dictionaries(st.sampled_from(["x", "y"]), SCALARS, max_size=2)
    item = st.builds(lambda name, rest: {key: name, **rest}, NAMES, fields)
    return st.lists(item, max_size=3, unique_by=lambda one: one[key])


LAYERS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            **{field: items(key) for field, key in MERGE_KEYS.items()},
            **{field: st.lists(SCALARS, max_size=3, unique_by=repr) for field in APPENDED},
            "args": st.lists(SCALARS, max_size=3),
            "number": SCALARS,
        },
    ),
    lambda inner: st.dictionaries(st.sampled_from(["spec", "metadata"]), inner, max_size=2),
    max_leaves=4,
)


@given(LAYERS)
def test_nothing_is_the_identity(layer: dict[str, Any]) -> None:
    """An empty layer changes nothing, below or on top."""
    assert merge({}, layer) == layer == merge(layer, {})


@given(LAYERS)
def test_laying_a_layer_over_itself_changes_nothing(layer: dict[str, Any]) -> None:
    """Merging is idempotent: appended lists do not grow, items are not repeated."""
    assert merge(layer, layer) == layer


@given(LAYERS, LAYERS, LAYERS)
def test_only_the_order_of_layers_counts(one: Any, two: Any, three: Any) -> None:
    """Merging is associative: precedence is the order of the list, however it is grouped."""
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(LAYERS, LAYERS)
def test_inputs_are_not_changed(base: dict[str, Any], over: dict[str, Any]) -> None:
    """Steps may share what they return."""
    before = copy.deepcopy((base, over))
    merge(base, over)
    assert (base, over) == before


@given(LAYERS, LAYERS)
def test_the_later_layer_wins(base: dict[str, Any], over: dict[str, Any]) -> None:
    """Every scalar and plain list of the later layer is in the result."""
    result = merge(base, over)
    for field in ("number", "args"):
        if field in over:
            assert result[field] == over[field]


@pytest.mark.parametrize("field", sorted(set(MERGE_KEYS) - WHOLE))
def test_items_are_merged_by_their_key(field: str) -> None:
    """An item with a known key is merged in its place; the others follow."""
    key = MERGE_KEYS[field]
    base = {field: [{key: 1, "x": 1}, {key: 2, "x": 2}]}
    over = {field: [{key: 3, "x": 3}, {key: 1, "y": 9}]}
    assert merge(base, over) == {field: [{key: 1, "x": 1, "y": 9}, {key: 2, "x": 2}, {key: 3, "x": 3}]}


@pytest.mark.parametrize("field", sorted(WHOLE))
def test_some_items_are_replaced_whole(field: str) -> None:
    """A variable has one source and a volume one type: fields of two items never mix."""
    key = MERGE_KEYS[field]
    base = {field: [{key: 1, "value": "plain"}, {key: 2}]}
    over = {field: [{key: 1, "valueFrom": {}}]}
    assert merge(base, over) == {field: [{key: 1, "valueFrom": {}}, {key: 2}]}


@pytest.mark.parametrize("field", sorted(APPENDED))
def test_lists_without_a_key_add_up(field: str) -> None:
    """Items are appended in order, each once."""
    assert merge({field: [{"x": 1}]}, {field: [{"x": 2}, {"x": 1}]}) == {field: [{"x": 1}, {"x": 2}]}


def test_other_lists_are_replaced() -> None:
    """A command is one thing, not a collection."""
    assert merge({"args": ["a", "b"]}, {"args": ["c"]}) == {"args": ["c"]}


@pytest.mark.parametrize(("base", "over"), [({"a": 1}, {"b": 2}), ([1], 2), (3, [4]), ({"a": 1}, None)])
def test_different_shapes_replace_each_other(base: object, over: object) -> None:
    """A value of another shape replaces, and a null does too."""
    expected = {"a": 1, "b": 2} if isinstance(over, dict) else over
    assert merge({"field": base}, {"field": over}) == {"field": expected}
