"""The order of fields: for the reader alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.resources.order import FIRST, LAST, SORTED, ordered

KEYS = st.sampled_from([*FIRST, *LAST, *SORTED, "zebra", "apple"])
VALUES = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(VALUES)
def test_order_changes_no_value(value: Any) -> None:
    """The result is equal to what went in, and ordering it again changes nothing."""
    once = ordered(value)
    assert once == value
    assert repr(ordered(once)) == repr(once)


@given(st.permutations(["a", "b", "c"]))
def test_free_keys_are_sorted(keys: list[str]) -> None:
    """Labels stand in the same order however the document lists them."""
    assert list(ordered({"labels": dict.fromkeys(keys, "x")})["labels"]) == ["a", "b", "c"]


def test_as_an_expert_would_write_it() -> None:
    """Identity first, then settings, then what is long."""
    shuffled = {
        "spec": {},
        "data": {},
        "metadata": {"labels": {}, "namespace": "n", "name": "x"},
        "kind": "K",
    }
    result = ordered({**shuffled, "immutable": True, "apiVersion": "v1"})
    assert list(result) == ["apiVersion", "kind", "metadata", "immutable", "data", "spec"]
    assert list(result["metadata"]) == ["name", "namespace", "labels"]
    assert list(ordered({"verbs": [], "resources": [], "apiGroups": []})) == [
        "apiGroups",
        "resources",
        "verbs",
    ]


def test_no_field_stands_twice() -> None:
    """The table has one place per field."""
    assert len({*FIRST, *LAST}) == len(FIRST) + len(LAST)


def test_every_rendered_object_is_ordered(rendered: Callable[..., Any]) -> None:
    """Whatever is rendered has been put in order."""
    for item in rendered(networkPolicy={}, podDisruptionBudget={}, hadoopConf={"a": "b"}).objects:
        assert repr(ordered(item)) == repr(item)
