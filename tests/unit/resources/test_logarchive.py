"""Pods whose logs are archived: who has which credential and folder, and what runs in front of what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Rendered

Make = Callable[..., Rendered]
IMAGE = {"image": "docker.io/rclone/rclone:1.76.0"}
BUCKET = {**IMAGE, "url": "s3://data-logs/spark/", "secretName": "log-archive"}
ROLES = ("driver", "executor")


def containers(made: Rendered, role: str) -> dict[str, dict[str, Any]]:
    """All containers of a pod."""
    spec = made.pod(role)["spec"]
    return {one["name"]: one for one in (*spec.get("initContainers", ()), *spec["containers"])}


@pytest.mark.parametrize("role", ROLES)
def test_only_the_container_that_archives_has_the_credentials(rendered: Make, role: str) -> None:
    """No user code runs in it; the others have a folder of the logs each, and not the volume's root."""
    made = rendered(logging={"archive": BUCKET})
    mounts = {
        name: {mount["name"]: mount for mount in one.get("volumeMounts", ())}
        for name, one in containers(made, role).items()
    }
    assert [name for name, own in mounts.items() if "sparkgen-log-archive-login" in own] == ["log-archive"]
    folders = {
        name: own["sparkgen-logs"].get("subPath") for name, own in mounts.items() if "sparkgen-logs" in own
    }
    allocator = {"allocator": "allocator"} if role == "driver" else {}
    assert folders == {"log-archive": None, f"spark-kubernetes-{role}": "spark", **allocator}


def test_it_starts_before_the_allocator_and_so_ends_after_it(rendered: Make) -> None:
    """Kubernetes ends native sidecars in the reverse order."""
    names = list(containers(rendered(logging={"archive": BUCKET}), "driver"))
    assert names.index("log-archive") < names.index("allocator")


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("backend", ["sparkgen", "spark"])
def test_spark_starts_as_before_behind_the_script(rendered: Make, role: str, backend: str) -> None:
    """The script adds nothing else to the arguments."""
    plain = rendered(allocator=backend).spark(role).get("args", [])
    logged = rendered(allocator=backend, logging={"archive": BUCKET}).spark(role)["args"]
    assert logged == ["bash", "/opt/sparkgen/conf/logged.sh", *plain]


def test_only_a_driver_deletes_what_is_old(rendered: Make) -> None:
    """One pod of a run is enough."""
    made = rendered(logging={"archive": {**BUCKET, "maxAge": "30d"}})
    given = {role: containers(made, role)["log-archive"]["env"] for role in ROLES}
    ages = {
        role: [one["value"] for one in env if one["name"] == "SPARKGEN_LOG_MAX_AGE"]
        for role, env in given.items()
    }
    assert ages == {"driver": ["2592000s"], "executor": []}


@pytest.mark.parametrize("role", ROLES)
def test_a_claim_keeps_the_group_of_its_files(rendered: Make, role: str) -> None:
    """Else each pod waits until the kubelet has changed all of them; a document may want that."""
    claim = {"logging": {"archive": {**IMAGE, "claim": "spark-logs"}}}
    context = rendered(**claim).pod(role)["spec"]["securityContext"]
    assert context["fsGroupChangePolicy"] == "OnRootMismatch"
    own = {role: {"podSecurityContext": {"fsGroupChangePolicy": "Always"}}}
    assert rendered(**claim, **own).pod(role)["spec"]["securityContext"]["fsGroupChangePolicy"] == "Always"
    bucket = rendered(logging={"archive": BUCKET}).pod(role)["spec"]["securityContext"]
    assert "fsGroupChangePolicy" not in bucket


def test_without_an_archive_nothing_changes(rendered: Make) -> None:
    """Not a container, a variable or a file."""
    made = rendered()
    assert all("log-archive" not in containers(made, role) for role in ROLES)
    assert not {"logged.sh", "archive.sh"} & {*made.config_map("conf")["data"]}
