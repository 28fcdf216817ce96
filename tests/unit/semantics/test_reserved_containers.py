"""No container of a document is merged into one of sparkgen's own, which may have a token or volumes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.resources.layers import LAYERS
from sparkgen.semantics.registry import findings_of

MAIN = {contract.DRIVER_CONTAINER, contract.EXECUTOR_CONTAINER}
ROLES = {
    **dict.fromkeys((*contract.DRIVER_HELPERS, contract.FETCH_CONTAINER), "driver"),
    contract.SHUFFLE_CONTAINER: "executor",
    contract.LOG_ARCHIVE_CONTAINER: "executor",
}
"""Container that sparkgen adds -> a role that has it."""


def added(value: Any) -> Iterator[str]:
    """The names of all containers in layers."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if key in ("containers", "initContainers") and isinstance(inside, list):
                yield from (str(one["name"]) for one in inside if isinstance(one, dict) and "name" in one)
            yield from added(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from added(inside)


def test_each_container_is_known_here() -> None:
    """Whoever adds one reserves its name, too."""
    names = {name for name in added(dict(LAYERS)) if not name.startswith("@")}
    assert names - MAIN == {*ROLES}


@pytest.mark.parametrize("place", ["initContainers", "sidecars", "template"])
@pytest.mark.parametrize("name", ROLES)
def test_its_name_is_reserved(name: str, place: str) -> None:
    """In every place of a document that makes containers."""
    role = ROLES[name]
    container = {"name": name, "image": "registry.example.com/x:1"}
    made = (
        {"template": {"spec": {"initContainers": [container]}}}
        if place == "template"
        else {place: [container]}
    )
    spec = {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "registry.example.com/x:1",
        "mainApplicationFile": "./a.py",
        "shuffleService": {"mode": "sidecar"},
        "logging": {"archive": {"claim": "logs", "image": "registry.example.com/rclone:1"}},
        "delivery": {"repository": "registry.example.com/code", "mount": "fetch"},
        "artifacts": [{"name": "code", "reference": "registry.example.com/code@sha256:0", "files": {}}],
        role: made,
    }
    value = {"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": spec}
    found = [finding.found for rule, finding in findings_of(value) if rule.code == "SG160"]
    assert found == [name]
