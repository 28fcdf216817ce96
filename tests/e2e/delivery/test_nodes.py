"""Fifty executors on two nodes: nothing is downloaded twice by a node, whoever fetches.

Nodes of kwok run no containers, so these are real pods: the executor's template as it is rendered, with
`true` in place of Spark.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from deployed import wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT, NODES
from cluster.registry import Registry
from sparkgen import contract

sys.path.insert(0, str(Path(__file__).parent))

from project import REPOSITORY, Project, zipped

pytestmark = pytest.mark.own_cluster
NEW = TESTED_VERSIONS[1]
EXECUTORS = 50


@pytest.fixture
def shared(namespace: str) -> str:
    """A folder of each node that user 185 may write to."""
    for node in NODES:
        folder = LAYOUT.node(node) / "srv" / namespace
        folder.mkdir()
        folder.chmod(0o777)
    return f"/srv/{namespace}"


def template(manifests: str) -> dict[str, Any]:
    """The executor's pod template."""
    data = [one["data"] for one in yaml.safe_load_all(manifests) if one["kind"] == "ConfigMap"]
    return dict(json.loads(next(one["executor.json"] for one in data if "executor.json" in one))["template"])


def pods(manifests: str, namespace: str) -> Iterator[dict[str, Any]]:
    """Executors that end as soon as they have their files, without requests: the machine is small."""
    found = template(manifests)
    for number in range(EXECUTORS):
        spec = dict(found["spec"], serviceAccountName="default", restartPolicy="Never")
        (spark,) = (one for one in spec["containers"] if one["name"] == contract.EXECUTOR_CONTAINER)
        spark = {"name": spark["name"], "image": spark["image"], "volumeMounts": spark["volumeMounts"]}
        spec["containers"] = [{**spark, "imagePullPolicy": "IfNotPresent", "command": ["true"]}]
        spec["initContainers"] = [{**one, "resources": {}} for one in spec.get("initContainers", [])]
        metadata = {"name": f"executor-{number}", "namespace": namespace, "labels": {"of": "nodes"}}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("mount", ["fetch", "image"])
def test_fifty_executors_download_once_for_each_node(
    mount: str,
    tmp_path: Path,
    plain_registry: Registry,
    cluster: Cluster,
    namespace: str,
    images: None,
    shared: str,
) -> None:
    """With `cacheVolume` the pods of a node share what one has downloaded; the kubelet does so anyway."""
    project = Project(tmp_path / "project", plain_registry, cluster, namespace)
    cached: dict[str, Any] = {
        "volumes": [{"name": "cache", "hostPath": {"path": shared}}],
        "delivery": {"cacheVolume": "cache"},
    }
    project.write(NEW, mount, **(cached if mount == "fetch" else {}))
    own = uuid.uuid4().hex  # no node has these bytes from another test
    project.change("conf/own.csv", own)
    (project.folder / "data.zip").write_bytes(zipped({"inner.txt": own}))
    project.push()
    manifests = project.render()
    config_maps = [one for one in yaml.safe_load_all(manifests) if one["kind"] == "ConfigMap"]
    cluster.apply(*config_maps)
    asked = len(plain_registry.requests)
    cluster.apply(*pods(manifests, namespace))

    def found() -> list[dict[str, Any]]:
        return cluster.objects("pods", namespace, "of=nodes")

    def story() -> str:
        return cluster.kubectl("get", "pods", "-n", namespace, "-o", "wide")

    wait_until(
        lambda: all(one["status"]["phase"] in ("Succeeded", "Failed") for one in found()),
        300,
        "all executors have ended",
        story,
    )
    assert {one["status"]["phase"] for one in found()} == {"Succeeded"}, story()
    nodes = {one["spec"]["nodeName"] for one in found()}
    assert len(nodes) == len(NODES)
    for name in ("code", "dependencies"):
        blob = f"GET /v2/{REPOSITORY}/blobs/{project.artifact(name)['digest']}"
        assert plain_registry.requests[asked:].count(blob) == len(nodes), name
