"""What Flux does with the objects: server-side apply, again and again, as its documentation says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from argo import in_namespace, waiting
from deployed import document, render

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.runtime_image import PYTHON
from sparkgen import contract
from sparkgen.document.configuration import FILE_NAME

VERSION = TESTED_VERSIONS[-1]
MANAGER = "kustomize-controller"
FLUX = "kustomize.toolkit.fluxcd.io"


def applied(cluster: Cluster, manifests: str) -> list[dict[str, Any]]:
    """What comes of a server-side apply in the name of Flux's controller."""
    options = ("--server-side", f"--field-manager={MANAGER}", "-f", "-", "-o", "json")
    return list(json.loads(cluster.kubectl("apply", *options, input_text=manifests))["items"])


def versions(objects: list[dict[str, Any]]) -> dict[str, str]:
    """Kind and name -> resource version, which every change of an object makes another."""
    return {
        f"{item['kind']}/{item['metadata']['name']}": str(item["metadata"]["resourceVersion"])
        for item in objects
        if item["kind"] not in ("Job", "CronJob", "Deployment")  # their status changes by itself
    }


def generations(objects: list[dict[str, Any]]) -> dict[str, tuple[str, int]]:
    """Name -> UID and generation of workloads: another generation is another specification."""
    return {
        str(item["metadata"]["name"]): (item["metadata"]["uid"], item["metadata"]["generation"])
        for item in objects
        if item["kind"] in ("Job", "CronJob", "Deployment")
    }


KINDS: dict[str, dict[str, Any]] = {
    "once": {},
    "streams": {"restartPolicy": {"type": "Always"}},
    "scales": {"dynamicAllocation": {"enabled": True, "maxExecutors": 2}},
}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_applied_again_changes_nothing(name: str, cluster: Cluster, restricted: str) -> None:
    """The server fills in defaults and the controllers write status: a second apply finds no difference."""
    manifests = render(waiting(name, restricted, VERSION, **KINDS[name]), restricted, "--target", "flux")
    first = applied(cluster, manifests)
    second = applied(cluster, manifests)
    assert versions(second) == versions(first)
    assert generations(second) == generations(first) != {}


def test_applications_share_a_runtime(cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """Another application brings the same ConfigMap; no apply changes it, or copies it into an annotation."""
    (tmp_path / FILE_NAME).write_text(f"pythonImage: {PYTHON}\n")
    seen = []
    for name in ("one", "two", "one"):
        manifests = render(
            waiting(name, restricted, VERSION), restricted, "--target", "flux", folder=tmp_path
        )
        objects = applied(cluster, manifests)
        seen += [one["metadata"] for one in objects if contract.RUNTIME_NAME in one["metadata"]["name"]]
    assert len(seen) == 3
    assert len({one["resourceVersion"] for one in seen}) == 1
    assert not [key for key in seen[0]["annotations"] if key.startswith("kubectl.")]


def test_flux_is_told_what_to_keep_to_replace_nothing_and_to_leave_variables_alone() -> None:
    """`prune: disabled` on what a driver uses, `substitute: disabled` where `${` stands, `force` nowhere."""
    value = in_namespace(document("told", VERSION, "ends.py", "${HOME}"), "x")
    objects = list(yaml.safe_load_all(render(value, "x", "--target", "flux")))
    for item in objects:
        notes = item["metadata"].get("annotations", {})
        kept = ("ConfigMap", "Job", "Role", "RoleBinding", "ServiceAccount")
        used = item["kind"] in kept and "-history" not in item["metadata"]["name"]
        assert (notes.get(f"{FLUX}/prune") == "disabled") == used
        assert (notes.get(f"{FLUX}/substitute") == "disabled") == ("${" in json.dumps(item))
        assert f"{FLUX}/force" not in notes
    assert any("${HOME}" in json.dumps(item) for item in objects)
