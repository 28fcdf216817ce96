"""Kubernetes' schemas, made self-contained and kept once for all versions, for kubeconform."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from k8s.kubernetes_schemas import GATEWAY, KINDS, MINOR_VERSIONS, changes, ensure, generate
from sparkgen.schema import manifests

SHIPPED = Path(__file__).parents[3] / "schemas" / manifests.FILE
DEFINITIONS = {
    "Spec": {
        "properties": {"description": {"type": "string"}, "next": {"$ref": "#/$defs/Item"}},
        "required": ["description"],
    },
    "Item": {"properties": {"again": {"$ref": "#/$defs/Item"}, "$ref": {"type": "string"}}},
    "Unused": {"type": "string"},
}


def test_a_schema_becomes_self_contained() -> None:
    """What is reached, once or in a circle, moves in; a field called "$ref" is a field."""
    schema = {"properties": {"spec": {"$ref": "#/$defs/Spec"}}}
    assert manifests.standalone(schema, DEFINITIONS) == {
        **schema,
        "$defs": {"Item": DEFINITIONS["Item"], "Spec": DEFINITIONS["Spec"]},
    }


def test_what_comes_changes_and_goes_is_kept_once() -> None:
    """Each version gets back what it had, from the changes alone."""
    versions = {
        "1.30": {"a": {"type": "string"}, "b": {"type": "null"}},
        "1.31": {"a": {"type": "string"}, "b": {"type": "null"}},
        "1.32": {"a": {"type": "object"}, "c": {"type": "array"}},
    }
    kept = changes(versions)
    assert kept == {
        "a": {"1.30": {"type": "string"}, "1.32": {"type": "object"}},
        "b": {"1.30": {"type": "null"}, "1.32": None},
        "c": {"1.32": {"type": "array"}},
    }
    table = {"kubernetes": list(versions), "kinds": kept, "definitions": {}}
    assert {minor: manifests.of_minor(table, minor) for minor in versions} == versions


def test_what_is_shipped_is_what_the_tool_makes(golden: Callable[[Path, str], None]) -> None:
    """Of the pinned packages: no hand has changed it, and no version is missing."""
    golden(SHIPPED, generate())
    assert manifests.minors() == MINOR_VERSIONS
    assert SHIPPED.stat().st_size < 250_000


@pytest.mark.parametrize("minor", MINOR_VERSIONS)
def test_every_kind_is_there_for_every_version(kubernetes_schemas: Path, minor: str) -> None:
    """Kubeconform's own names; each file resolves within itself; nothing but these kinds is written."""
    folder = kubernetes_schemas / f"v{minor}.0-standalone-strict"
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        f"{kind}.json" for kind in (*KINDS, *GATEWAY)
    )
    for path in folder.iterdir():
        text = path.read_text()
        assert '"$id"' not in text
        assert "x-kubernetes-" not in text
        assert "_definitions.json" not in text
        assert json.loads(text)["additionalProperties"] is False


def test_the_folder_is_in_the_cache_and_made_once(tmp_path: Path) -> None:
    """The cache's folder is honoured; what is there is not written again."""
    folder = ensure({"SPARKGEN_CACHE": str(tmp_path)})
    assert folder.parent == tmp_path / "kubernetes-schemas"
    (folder / "mark").touch()
    assert ensure({"SPARKGEN_CACHE": str(tmp_path)}) == folder
    assert (folder / "mark").exists()
