"""Overlays (`-f`) and single values (`--set`) on a document, with Helm's meaning.

Mappings merge key by key, lists and scalars are replaced, null deletes the key. Every value keeps its
position. Nodes never change: the nodes that an overlay changes are created again, the others are shared.
"""

from __future__ import annotations

from sparkgen.document.node import Node, list_node, mapping_node, scalar_node
from sparkgen.document.setvalues import Assignment, SetError, Step
from sparkgen.document.text import shortened


def merge(base: Node, overlay: Node) -> Node:
    """Returns `overlay` on `base`: two mappings merge, at the base's position; else `overlay` alone."""
    if not (base.is_mapping and overlay.is_mapping):
        return without_nulls(overlay)
    if not overlay.entries:
        return base
    keys = dict(base.keys)
    children = dict(base.entries)
    for key, child in overlay.entries.items():
        known = children.get(key)
        if child.value is None:
            children.pop(key, None)
            keys.pop(key, None)
        elif known is not None and known.is_mapping and child.is_mapping:
            children[key] = merge(known, child)
        else:
            children[key] = without_nulls(child)
            keys[key] = overlay.keys[key]
    return mapping_node(base.position, keys, children)


def without_nulls(node: Node) -> Node:
    """The overlay's node without nulls, for a place without a value to delete. Lists stay as they are."""
    if not node.is_mapping:
        return node
    children = {key: without_nulls(child) for key, child in node.entries.items() if child.value is not None}
    if all(children.get(key) is child for key, child in node.entries.items()):
        return node
    return mapping_node(node.position, {key: node.keys[key] for key in children}, children)


def assign(root: Node, assignment: Assignment) -> Node:
    """The root with one value set. Raises SetError if a value on the path is no mapping, or no list."""
    return _assign(root, assignment.path, assignment.value)


def _assign(base: Node | None, path: tuple[Step, ...], value: Node) -> Node:
    """Returns `base` (None: there is no value yet) with the value at the path."""
    if base is not None and base.value is None:
        base = None
    return _set_key(base, path, value) if isinstance(path[0][0], str) else _set_item(base, path, value)


def _set_key(base: Node | None, path: tuple[Step, ...], value: Node) -> Node:
    key, place = str(path[0][0]), path[0][1]
    if base is not None and not base.is_mapping:
        message = f"`{shortened(key)}` cannot be set: the value above it is not a mapping ({base.position})"
        raise SetError(place, message, "check the path", base.text)
    keys = dict(base.keys) if base is not None else {}
    children = dict(base.entries) if base is not None else {}
    known = children.get(key)
    if value.value is None and (known is None or len(path) == 1):
        children.pop(key, None)
        keys.pop(key, None)
    elif len(path) == 1:
        children[key] = value
        keys[key] = place
    else:
        children[key] = _assign(known, path[1:], value)
        keys.setdefault(key, place)
    return mapping_node(base.position if base is not None else place, keys, children)


def _set_item(base: Node | None, path: tuple[Step, ...], value: Node) -> Node:
    index, place = int(path[0][0]), path[0][1]
    if base is not None and not base.is_list:
        message = f"[{index}] cannot be set: the value before it is not a list ({base.position})"
        raise SetError(place, message, "check the path, or set the whole list: a={x,y}", base.text)
    items = list(base.items) if base is not None else []
    items += [scalar_node(None, place, "null")] * (index + 1 - len(items))
    if len(path) == 1:
        items[index] = value
    else:
        # as in Helm, a mapping replaces an item that is not a mapping
        replaced = isinstance(path[1][0], str) and not items[index].is_mapping
        items[index] = _assign(None if replaced else items[index], path[1:], value)
    return list_node(base.position if base is not None else place, items)
