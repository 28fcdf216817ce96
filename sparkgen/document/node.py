"""A parsed YAML value with its position, and a document made of such values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkgen.document.ignores import Ignore
    from sparkgen.errors import Path, Position, Problem

NO_KEYS: dict[str, Position] = {}
"""The `keys` of every node that is not a mapping: one shared empty dict, because there are thousands."""

NO_CHILDREN: list[Node] = []
"""The `children` of every scalar: shared, never added to."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value with its position. A node never changes after it was built: an overlay makes new nodes.

    `value`: None, bool, int, float or str for a scalar; otherwise a dict[str, Any] or list[Any] of plain
    values. An aliased value is the same object wherever it is used. `position`: the start of the value; for
    an aliased value, of its text beside the anchor. `text`: a scalar's characters before it got a type
    ("3.10" if `value` is 3.1; quotes and escapes are resolved); "" for collections. `keys`: the position of
    each key of a mapping. `children`: dict[str, Node], list[Node], or empty.
    """

    value: Any
    position: Position
    text: str = ""
    keys: dict[str, Position] = field(default_factory=dict)
    children: dict[str, Node] | list[Node] = field(default_factory=list)

    @property
    def is_mapping(self) -> bool:
        """Whether the value is a dict."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.value, list)

    @property
    def entries(self) -> dict[str, Node]:
        """A mapping's children by key; empty for everything else."""
        return self.children if isinstance(self.children, dict) else {}

    @property
    def items(self) -> list[Node]:
        """A list's children; empty for everything else."""
        return self.children if isinstance(self.children, list) else []

    def _child(self, part: str | int) -> Node | None:
        if isinstance(part, str):
            return self.entries.get(part)
        items = self.items
        return items[part] if 0 <= part < len(items) else None

    def _descend(self, path: Path) -> Iterator[Node]:
        """Yields the node itself and the nodes along `path`, as far as they exist."""
        node: Node | None = self
        yield self
        for part in path:
            node = node._child(part) if node is not None else None
            if node is None:
                return
            yield node

    def find(self, path: Path) -> Node | None:
        """The node at `path`, or None."""
        along = list(self._descend(path))
        return along[-1] if len(along) == len(path) + 1 else None

    def locate(self, path: Path) -> Position:
        """The start of the value at `path`, or of its deepest ancestor that exists."""
        return list(self._descend(path))[-1].position

    def locate_key(self, path: Path) -> Position:
        """The position of the last key of `path`; for a list's item, which has no key, that of its value.

        If there is nothing at the path, the position of the key of its deepest ancestor that exists.
        """
        along = list(self._descend(path))
        if len(along) == 1:
            return self.position
        last = path[len(along) - 2]
        return along[-2].keys[last] if isinstance(last, str) else along[-1].position


def scalar_node(value: float | str | bool | None, position: Position, text: str) -> Node:
    """A node without children (bool, int, float, str or None)."""
    return Node(value, position, text, NO_KEYS, NO_CHILDREN)


def mapping_node(position: Position, keys: dict[str, Position], children: dict[str, Node]) -> Node:
    """A node whose value is the dict of its children's values."""
    return Node({key: child.value for key, child in children.items()}, position, "", keys, children)


def list_node(position: Position, children: list[Node]) -> Node:
    """A node whose value is the list of its children's values."""
    return Node([child.value for child in children], position, "", NO_KEYS, children)


def node_of(value: Any, position: Position) -> Node:
    """The node of a plain value that is in no file: all of it is at one position."""
    if isinstance(value, dict):
        children = {key: node_of(member, position) for key, member in value.items()}
        return mapping_node(position, dict.fromkeys(children, position), children)
    if isinstance(value, list):
        return list_node(position, [node_of(member, position) for member in value])
    return scalar_node(value, position, str(value))


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a file, with all overlays and `--set` values applied to it.

    `value` is `node.value`. `source`: the file as the user named it. `index`: the index of the document in
    that file, from 0. `owner`: kind and metadata.name as in the file. `ignores`: the ignore comments in its
    lines and in the overlays. `warnings`: the warnings about its text; they are in no other list.
    """

    node: Node
    value: dict[str, Any]
    source: str
    index: int
    owner: tuple[str, str] = ("", "")
    ignores: tuple[Ignore, ...] = ()
    warnings: tuple[Problem, ...] = ()
