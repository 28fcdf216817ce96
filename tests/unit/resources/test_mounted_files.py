"""Local files without a registry: a ConfigMap of the run, mounted where a registry's way puts the files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sparkgen import contract, model, resources
from sparkgen.model.application import Application

TEXT = "print(1)\n"
DIGEST = "sha256:" + "0f" * 32


def document(text: str = TEXT, target: str = "kubectl", **spec: Any) -> dict[str, Any]:
    """A document with a script, as `check` completes it."""
    artifact = {
        "name": "code",
        "contents": {
            "items": [{"key": "jobs_etl.py", "path": "jobs/etl.py", "mode": 0o755}],
            "data": {"jobs_etl.py": text},
        },
        "digest": DIGEST,
        "size": 1,
        "unpackedSize": 1,
        "source": DIGEST,
        "files": {"./jobs/etl.py": ["jobs/etl.py"]},
    }
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "etl", "target": target},
        "spec": {
            "type": "Python",
            "sparkVersion": "3.5.8",
            "image": "spark",
            "mainApplicationFile": "./jobs/etl.py",
            "artifacts": [artifact],
            **spec,
        },
    }


def objects(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Kind and name without the run's hash -> object."""
    described = model.describe(value)
    assert isinstance(described, Application)
    run = resources.run_of(described)
    return {
        f"{item['kind']} {item['metadata']['name'].replace(run, 'RUN')}": dict(item)
        for item in resources.render(described)
    }


def pods(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The specifications of the driver's and the executors' pods."""
    found = objects(value)
    template = found["ConfigMap RUN-executor"]["data"][contract.EXECUTOR_TEMPLATE_FILE]
    return [found["Job RUN"]["spec"]["template"]["spec"], json.loads(template)["template"]["spec"]]


def run_of(value: dict[str, Any]) -> str:
    """The name of a document's run."""
    return resources.run_of(model.describe(value))  # type: ignore[arg-type] - a server has none


def test_the_files_are_an_immutable_object_of_the_run() -> None:
    """With the labels of the run's other ConfigMaps, by which they are kept and removed."""
    found = objects(document())
    config_map, other = found["ConfigMap RUN-code"], found["ConfigMap RUN-conf"]
    assert (config_map["data"], config_map["immutable"]) == ({"jobs_etl.py": TEXT}, True)
    assert config_map["metadata"]["labels"] == other["metadata"]["labels"]


@pytest.mark.parametrize("mount", ["fetch", "image"])
def test_pods_mount_them_and_download_nothing(mount: str) -> None:
    """In driver and executors, at the path of an artifact; no container gets a registry's password."""
    value = document(delivery={"mount": mount, "pullSecret": "registry"})
    run = run_of(value)
    for pod in pods(value):
        names = [one["name"] for one in pod.get("initContainers", [])]
        assert contract.FETCH_CONTAINER not in names
        assert not any(one["name"] == contract.REGISTRY_VOLUME for one in pod["volumes"])
        [volume] = [one for one in pod["volumes"] if one["name"] == "sparkgen-artifact-code"]
        items = [{"key": "jobs_etl.py", "path": "jobs/etl.py", "mode": 0o755}]
        assert volume["configMap"] == {"name": f"{run}-code", "items": items}
        mounts = pod["containers"][0]["volumeMounts"]
        [mounted] = [one for one in mounts if one["name"] == volume["name"]]
        assert (mounted["mountPath"], mounted["readOnly"]) == (f"{contract.ARTIFACTS_DIR}/code", True)


def test_a_changed_byte_is_another_run() -> None:
    """And the same bytes are the same one."""
    assert run_of(document()) == run_of(document())
    assert run_of(document()) != run_of(document(text=f"{TEXT} "))


@pytest.mark.parametrize(
    ("own", "options"),
    [
        ("", "Prune=false,ServerSideApply=true"),
        ("Replace=true", "Replace=true,Prune=false,ServerSideApply=true"),
        ("ServerSideApply=false", "ServerSideApply=false,Prune=false"),
    ],
)
def test_argo_cd_applies_them_on_the_server(own: str, options: str) -> None:
    """Its client-side apply would copy them into an annotation, which has no room for them."""
    key = "argocd.argoproj.io/sync-options"
    value = document(target="argocd", **({"annotations": {key: own}} if own else {}))
    if own:
        value["metadata"]["annotations"] = value["spec"].pop("annotations")
    found = objects(value)
    assert found["ConfigMap RUN-code"]["metadata"]["annotations"][key] == options
    assert "ServerSideApply=true" not in found["ConfigMap RUN-conf"]["metadata"]["annotations"][key]
