"""Merges a Kubernetes object over another: maps by key, a few lists by their key, anything else is replaced.

The table of keys is explicit, so that the chart can use the same one. There are no `$patch` directives.
Source of the keys: the `patchMergeKey` of the Kubernetes API types, without the surprising ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MERGE_KEYS: Mapping[str, str] = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "imagePullSecrets": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "hostAliases": "ip",
}
"""Field name -> the key that identifies an item of the list."""

WHOLE = frozenset({"env", "volumes", "volumeMounts"})
"""Lists in which a new item replaces the old one completely: an item with fields of two sources (`value` and
`valueFrom`, `emptyDir` and `configMap`) would be refused."""

APPENDED = frozenset({"tolerations", "envFrom", "topologySpreadConstraints"})
"""Lists without a key, to which items are appended; an existing item is not repeated."""


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `base` with `over` merged over it; changes neither. Keys and items of `base` come first."""
    result = dict(base)
    for key, value in over.items():
        result[key] = _merged(key, result[key], value) if key in result else value
    return result


def _merged(field: str, base: Any, over: Any) -> Any:
    if isinstance(base, dict) and isinstance(over, dict):
        return merge(base, over)
    if isinstance(base, list) and isinstance(over, list):
        if field in APPENDED:
            return base + [item for item in over if item not in base]
        if field in MERGE_KEYS:
            return _merged_items(field, base, over)
    return over


def _merged_items(field: str, base: list[Any], over: list[Any]) -> list[Any]:
    key = MERGE_KEYS[field]
    items = list(base)
    places = {item.get(key): index for index, item in enumerate(items)}
    for item in over:
        index = places.get(item.get(key))
        if index is None:
            places[item.get(key)] = len(items)
            items.append(item)
        else:
            items[index] = item if field in WHOLE else merge(items[index], item)
    return items
