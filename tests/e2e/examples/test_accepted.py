"""What sparkgen renders is what an API server takes, in a namespace that enforces "restricted" pods."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.handle import Cluster
from cluster.runtime_image import CONFIGURED
from demo import variants
from sparkgen import contract

ROOT = Path(__file__).resolve().parents[3]
VARIANTS = {variant.name: variant for variant in variants(ROOT / "examples")}
SERVERS = {"history-server", "shuffle-service", "staging-server"}
"""Examples that are no application, and have no executor."""
ON_NODE = {"shuffle-application", "shuffle-service"}
"""Examples whose pods need something of their node: Pod Security warns of them."""
ABSENT = ("scheduling.volcano.sh/v1beta1",)
"""What this cluster does not serve. Volcano's PodGroup is held to its own types in tests/unit."""
DRY_RUN = ("--dry-run=server", "--validate=strict", "-f", "-")


@pytest.fixture
def restricted(cluster: Cluster, namespace: str) -> str:
    """A namespace in which only restricted pods are let in, and others in templates are warned of."""
    levels = [f"pod-security.kubernetes.io/{mode}=restricted" for mode in ("enforce", "warn")]
    cluster.kubectl("label", "namespace", namespace, *levels)
    return namespace


def rendered(name: str, namespace: str) -> str:
    """The manifests of an example, as the command line prints them."""
    variant = VARIANTS[name]
    command = [
        str(Path(sys.executable).with_name("sparkgen")),
        "render",
        str(variant.document.absolute()),
        "-q",
    ]
    command += ["-f", str(variant.overlay.absolute())] if variant.overlay else []
    command += ["--set", f"metadata.namespace={namespace}"]
    return subprocess.run(command, cwd=CONFIGURED, capture_output=True, text=True, check=True).stdout


def executor(manifests: str, namespace: str) -> dict[str, Any]:
    """A pod of the executor's template, under an account that is there."""
    objects = [item for item in yaml.safe_load_all(manifests) if item["kind"] == "ConfigMap"]
    text = next(item["data"]["executor.json"] for item in objects if "executor.json" in item["data"])
    template = contract.executor_template(json.loads(text))
    metadata = {**template["metadata"], "name": "executor", "namespace": namespace}
    spec = {**template["spec"], "serviceAccountName": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("name", VARIANTS)
def test_the_api_server_takes_every_example(name: str, cluster: Cluster, restricted: str) -> None:
    """Strict validation finds no unknown field, and Pod Security warns of no pod, executors included."""
    manifests = rendered(name, restricted)
    served = [item for item in yaml.safe_load_all(manifests) if item["apiVersion"] not in ABSENT]
    text = yaml.safe_dump_all(served)
    applied = cluster.try_kubectl("apply", "--server-side", *DRY_RUN, input_text=text)
    assert applied.returncode == 0, applied.stderr
    unrestricted = name in SERVERS & ON_NODE
    assert ("hostPath" in applied.stderr) == unrestricted, applied.stderr
    assert applied.stderr == "" or unrestricted
    if name in SERVERS:
        return
    pod = json.dumps(executor(manifests, restricted))
    created = cluster.try_kubectl("create", *DRY_RUN, input_text=pod)
    if name in ON_NODE:
        assert "violates PodSecurity" in created.stderr
        assert "hostPath" in created.stderr
        return
    assert (created.returncode, created.stderr) == (0, "")
