"""Kubernetes' schemas made self-contained for kubeconform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubernetes_schemas import KINDS, MINOR_VERSIONS, ensure, standalone

DEFINITIONS = {
    "Spec": {
        "description": "what is wanted",
        "properties": {"description": {"type": "string"}, "next": {"$ref": "#/$defs/Item"}},
        "required": ["description"],
    },
    "Item": {"properties": {"again": {"$ref": "#/$defs/Item"}, "$ref": {"type": "string"}}},
    "Unused": {"type": "string"},
}


def test_a_schema_becomes_self_contained() -> None:
    """What is reached, once or in a circle, moves in; prose goes; a field called "description" stays."""
    schema = {
        "$id": "https://example.org/kind",
        "properties": {"spec": {"$ref": "/api/_definitions.json#/$defs/Spec", "description": "the spec"}},
    }
    assert standalone(schema, DEFINITIONS) == {
        "properties": {"spec": {"$ref": "#/$defs/Spec"}},
        "$defs": {
            "Item": {"properties": {"again": {"$ref": "#/$defs/Item"}, "$ref": {"type": "string"}}},
            "Spec": {
                "properties": {"description": {"type": "string"}, "next": {"$ref": "#/$defs/Item"}},
                "required": ["description"],
            },
        },
    }


@pytest.mark.parametrize("minor", MINOR_VERSIONS)
def test_every_kind_is_there_for_every_version(kubernetes_schemas: Path, minor: str) -> None:
    """Kubeconform's own names; each file resolves within itself; nothing but these kinds is written."""
    folder = kubernetes_schemas / f"v{minor}.0-standalone-strict"
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{kind}.json" for kind in KINDS)
    for path in folder.iterdir():
        text = path.read_text()
        assert '"$id"' not in text
        assert "_definitions.json" not in text
        assert json.loads(text)["additionalProperties"] is False


def test_the_folder_is_in_the_cache_and_made_once(tmp_path: Path) -> None:
    """The cache's folder is honoured; what is there is not written again."""
    folder = ensure({"SPARKGEN_CACHE": str(tmp_path)})
    assert folder.parent == tmp_path / "kubernetes-schemas"
    (folder / "mark").touch()
    assert ensure({"SPARKGEN_CACHE": str(tmp_path)}) == folder
    assert (folder / "mark").exists()
