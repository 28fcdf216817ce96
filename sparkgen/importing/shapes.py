"""Whether the schema has a list, a mapping or a single value for a field."""

from __future__ import annotations

import functools
from typing import Any

from sparkgen.document import Node
from sparkgen.errors import Path
from sparkgen.schema.store import KUBERNETES_FILE, application_schema, kubernetes_schema

_ROOTS = {
    "metadata": ("metadata",),
    "spec": ("connectServerSpec", "applicationSpec"),
    "outer": ("scheduledSpec",),
}
"""First part of a target -> the definitions with its fields; equal names have equal shapes in all."""


def fits(target: Path, node: Node) -> bool:
    """Whether a value has the shape of the field at `target` (a path of the tables), if it is known."""
    shape = _shape(tuple(str(part) for part in target))
    return shape is None or shape == ("array" if node.is_list else "object" if node.is_mapping else "value")


@functools.cache
def _shape(target: tuple[str, ...]) -> str | None:
    """Returns `array`, `object` or `value`; None if the schema of applications has no such field."""
    definitions = application_schema()["$defs"]
    roots = [definitions[name]["properties"] for name in _ROOTS.get(target[0], ())]
    section: dict[str, Any] = {"properties": {name: value for root in roots for name, value in root.items()}}
    for part in target[1:]:
        section = _resolved(section, definitions)
        section = section.get("properties", {}).get(part) or section.get("additionalProperties") or {}
        if not isinstance(section, dict):
            return None
    reference = section.get("$ref", "")
    if reference.startswith(KUBERNETES_FILE):
        section = kubernetes_schema()["$defs"][reference.rpartition("/")[2]]
        return str(section.get("type")) if section.get("type") in ("array", "object") else "value"
    kind = _resolved(section, definitions).get("type")
    if kind is None:
        return None
    return kind if kind in ("array", "object") else "value"


def _resolved(section: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """Returns a section of the schema with references such as `#/$defs/role/properties/cores` resolved."""
    while section.get("$ref", "").startswith("#/$defs/"):
        referenced: Any = definitions
        for part in section["$ref"].removeprefix("#/$defs/").split("/"):
            referenced = referenced[part]
        section = referenced
    return section
