"""A node finds what is below it, and says where it stands."""

from __future__ import annotations

import pytest

from sparkgen.document.node import Node
from sparkgen.document.parse import parse
from sparkgen.errors import Path


@pytest.fixture(scope="module")
def node() -> Node:
    """A root with a mapping and a list in it."""
    root = parse(b"a:\n  b: [x, {c: 1}]\nd:\n", "f").documents[0].root
    assert root is not None
    return root


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a", "b", 0), "x"),
        (("a", "b", 1, "c"), 1),
        (("a", "b", 1), {"c": 1}),
        (("d",), None),
        ((), {"a": {"b": ["x", {"c": 1}]}, "d": None}),
    ],
)
def test_find(node: Node, path: Path, value: object) -> None:
    """The node at a path that exists, be its value null."""
    found = node.find(path)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    "path", [("e",), ("a", 0), ("a", "b", 2), ("a", "b", -1), ("a", "b", "c"), ("d", "e"), (0,)]
)
def test_find_nothing(node: Node, path: Path) -> None:
    """None for a path that leads nowhere, also by a key of a list or an index of a mapping."""
    assert node.find(path) is None


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        ((), (1, 1), (1, 1)),
        (("a",), (2, 3), (1, 1)),
        (("a", "b"), (2, 6), (2, 3)),
        (("a", "b", 0), (2, 7), (2, 7)),
        (("a", "b", 1), (2, 10), (2, 10)),
        (("a", "b", 1, "c"), (2, 14), (2, 11)),
        (("d",), (3, 3), (3, 1)),
        (("nowhere",), (1, 1), (1, 1)),
        (("a", "nowhere", 3), (2, 3), (1, 1)),
        (("a", "b", 7), (2, 6), (2, 3)),
        (("d", "nowhere"), (3, 3), (3, 1)),
    ],
)
def test_locate(node: Node, path: Path, value_at: tuple[int, int], key_at: tuple[int, int]) -> None:
    """Where a value and its key are, or those of the deepest ancestor that exists."""
    place, key = node.locate(path), node.locate_key(path)
    assert (place.line, place.column) == value_at
    assert (key.line, key.column) == key_at


def test_kinds(node: Node) -> None:
    """A node is a mapping, a list, or neither."""
    listed = node.find(("a", "b"))
    scalar = node.find(("a", "b", 0))
    assert listed is not None
    assert scalar is not None
    assert (node.is_mapping, node.is_list, list(node.entries), node.items) == (True, False, ["a", "d"], [])
    assert (listed.is_mapping, listed.is_list, listed.entries, len(listed.items)) == (False, True, {}, 2)
    assert (scalar.is_mapping, scalar.is_list, scalar.entries, scalar.items) == (False, False, {}, [])
