"""The examples of secrets: right by their projects' definitions, right for the application."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s import crds

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "examples" / "secrets").rglob("*.yaml"))
IDS = [str(path.relative_to(ROOT / "examples" / "secrets")) for path in FILES]


def read(path: Path) -> dict[str, Any]:
    """An example as a value."""
    return dict(yaml.safe_load(path.read_text()))


def test_there_are_examples() -> None:
    """A check of nothing would pass."""
    assert {read(path)["kind"] for path in FILES} == {"ExternalSecret", "SealedSecret", "SecretStore"}


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_the_definitions_take_it(path: Path) -> None:
    """By the definition that the project publishes, unknown fields refused."""
    assert crds.errors(read(path)) == []


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_a_mistake_would_be_found(path: Path) -> None:
    """The schemas are strict: a field that is misspelt is one too many."""
    item = read(path)
    item["spec"]["tempalte"] = {}
    assert crds.errors(item)


def test_the_application_finds_its_keys() -> None:
    """Both ways make the Secret that s3-secret names, with the keys it reads."""
    document = read(ROOT / "examples" / "s3-secret" / "app.yaml")
    references = [variable["valueFrom"]["secretKeyRef"] for variable in document["spec"]["driver"]["env"]]
    wanted = {(reference["name"], reference["key"]) for reference in references}
    by_kind = {read(path)["kind"]: read(path) for path in FILES}
    external, sealed = by_kind["ExternalSecret"]["spec"], by_kind["SealedSecret"]
    assert {(external["target"]["name"], item["secretKey"]) for item in external["data"]} == wanted
    assert {(sealed["metadata"]["name"], name) for name in sealed["spec"]["encryptedData"]} == wanted
    assert external["secretStoreRef"]["name"] == by_kind["SecretStore"]["metadata"]["name"]
    assert "Secret" not in by_kind


def test_sealed_values_have_the_form_of_sealed_values() -> None:
    """Base64 of the length of the session key (2 bytes, big endian) and what follows."""
    sealed = next(item for item in map(read, FILES) if item["kind"] == "SealedSecret")
    for text in sealed["spec"]["encryptedData"].values():
        data = base64.b64decode(text, validate=True)
        assert len(data) > 2 + int.from_bytes(data[:2], "big")
