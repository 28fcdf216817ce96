"""The schema of Volcano's PodGroup, from its Go type: the definitions are in no Go module.

Of each field only what the type says: its name, and what kind of value it has. An unknown field is refused,
as the API server drops it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

GROUP_VERSION = "scheduling.volcano.sh/v1beta1"
SOURCE = "pkg/apis/scheduling/v1beta1/types.go"
QUANTITY = {"type": ["string", "integer"], "pattern": r"^[0-9]+(\.[0-9]+)?([numkMGTPE]|[KMGTPE]i)?$"}
_KINDS: dict[str, dict[str, Any]] = {
    "int32": {"type": "integer", "minimum": 0},
    "string": {"type": "string", "minLength": 1},
    "map[string]int32": {"type": "object", "additionalProperties": {"type": "integer"}},
    "*v1.ResourceList": {"type": "object", "additionalProperties": QUANTITY},
    "*NetworkTopologySpec": {"type": "object"},
    "[]SubGroupPolicySpec": {"type": "array"},
}
"""Go's type -> a schema. One that is not here is a KeyError: look at the new field."""
_FIELD = re.compile(r'^\t\w+\s+(\S+)\s+`json:"(\w+)', re.MULTILINE)


def schemas(source: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The strict schema of PodGroup by apiVersion and kind. `source`: the folder of the module's files."""
    text = (source / SOURCE).read_text(encoding="utf-8")
    body = text.partition("type PodGroupSpec struct {")[2].partition("\n}")[0]
    fields = {name: _KINDS[kind] for kind, name in _FIELD.findall(body)}
    spec = {"type": "object", "additionalProperties": False, "properties": fields}
    return {
        (GROUP_VERSION, "PodGroup"): {
            "type": "object",
            "additionalProperties": False,
            "required": ["apiVersion", "kind", "metadata", "spec"],
            "properties": {
                "apiVersion": {"const": GROUP_VERSION},
                "kind": {"const": "PodGroup"},
                "metadata": {"type": "object"},
                "spec": spec,
            },
        }
    }
