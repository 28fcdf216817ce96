"""Pods whose runtime is in a ConfigMap: an image of Python runs it, and nothing is copied."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import contract, model, resources

from .test_mounted_files import document, pods

NAME = "sparkgen-runtime-2.12-0f"
COMMAND = ["python3", "-I", "/opt/sparkgen/runtime/runtime.pyz"]
MOUNT = {"name": "sparkgen-runtime", "mountPath": "/opt/sparkgen/runtime", "readOnly": True}
PROGRAM = {
    "name": "sparkgen-runtime",
    "configMap": {"name": NAME, "items": [{"key": "runtime.pyz", "path": "runtime.pyz"}]},
}
JAR = {
    "name": "sparkgen-lib",
    "configMap": {"name": NAME, "items": [{"key": "scheduler.jar", "path": "scheduler.jar"}]},
}
PUSHED = {
    "name": "code",
    "reference": f"registry.example.com/etl@sha256:{'0' * 64}",
    "digest": f"sha256:{'0' * 64}",
    "size": 1,
    "unpackedSize": 1,
    "source": f"sha256:{'0' * 64}",
    "files": {"./jobs/etl.py": ["jobs/etl.py"]},
}


def by_name(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The containers of a pod."""
    return {one["name"]: one for one in (*pod.get("initContainers", ()), *pod["containers"])}


def volumes(pod: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The volumes of a pod with this name."""
    return [one for one in pod.get("volumes", ()) if one["name"] == name]


def runs_it(container: dict[str, Any], image: str = contract.PYTHON_IMAGE) -> bool:
    """Whether a container runs the program of the ConfigMap."""
    return (container["image"], container["command"]) == (image, COMMAND) and (
        MOUNT in container["volumeMounts"]
    )


def test_the_driver_needs_no_install() -> None:
    """Its jar comes from the ConfigMap, at the same path; the allocator checks whether it has expired."""
    driver, executor = pods(document(runtimeConfigMap=NAME))
    containers = by_name(driver)
    assert "install" not in containers
    assert runs_it(containers["allocator"])
    assert containers["allocator"]["args"] == ["allocator"]
    assert {"name": "SPARKGEN_CHECK_EXPIRY", "value": "true"} in containers["allocator"]["env"]
    assert volumes(driver, "sparkgen-runtime") == [PROGRAM]
    assert volumes(driver, "sparkgen-lib") == [JAR]
    lib = {"name": "sparkgen-lib", "mountPath": "/opt/sparkgen/lib", "readOnly": True}
    assert lib in containers["spark-kubernetes-driver"]["volumeMounts"]
    assert not volumes(executor, "sparkgen-runtime")
    assert "command" not in containers["spark-kubernetes-driver"]


def test_the_class_path_is_that_of_an_image() -> None:
    """Only where the runtime image itself is mounted has the jar another path."""
    with_image, without = (
        model.describe(document(**spec)) for spec in ({"runtimeImage": "a.b/c:1"}, {"runtimeConfigMap": NAME})
    )
    confs = [
        next(
            item["data"]["spark-defaults.conf"]
            for item in resources.render(described)
            if "spark-defaults.conf" in item.get("data", {})
        )
        for described in (with_image, without)
    ]
    assert confs[0] == confs[1]
    assert "/opt/sparkgen/lib/scheduler.jar" in confs[0]


@pytest.mark.parametrize("mount", ["fetch", "image"])
def test_what_was_pushed(mount: str) -> None:
    """`fetch` runs the program in executors, too; an image volume needs neither it nor the runtime image."""
    value = document(
        runtimeConfigMap=NAME,
        pythonImage="registry.example.com/python:3.13",
        artifacts=[PUSHED],
        delivery={"repository": "registry.example.com/etl", "mount": mount},
    )
    for pod in pods(value):
        if mount == "fetch":
            assert runs_it(by_name(pod)["fetch"], "registry.example.com/python:3.13")
            assert volumes(pod, "sparkgen-runtime") == [PROGRAM]
        else:
            assert "fetch" not in by_name(pod)
    driver, _ = pods(value)
    assert volumes(driver, "sparkgen-lib") == [JAR]


def test_the_job_that_removes_ended_runs() -> None:
    """It runs the same program."""
    described = model.describe(document(runtimeConfigMap=NAME, run={"history": {"succeeded": 1}}))
    [job] = [
        item
        for item in resources.render(described)
        if item["kind"] == "Job" and contract.LABEL_RUN not in item["metadata"]["labels"]
    ]
    pod = job["spec"]["template"]["spec"]
    assert runs_it(pod["containers"][0])
    assert pod["volumes"] == [PROGRAM]


def test_servers() -> None:
    """The janitor and what prepares its directories; the garbage collection of a staging server."""
    service = {
        "kind": "SparkShuffleService",
        "metadata": {"name": "shuffle"},
        "spec": {"sparkVersion": "3.5.8", "image": "spark", "runtimeConfigMap": NAME},
    }
    staging = {
        "kind": "SparkStagingServer",
        "metadata": {"name": "staging"},
        "spec": {
            "storage": {"claim": "c"},
            "credentials": {"secretName": "s"},
            "garbageCollection": {"namespaces": ["a"]},
            "runtimeConfigMap": NAME,
        },
    }
    for value, names in ((service, ["prepare", "janitor"]), (staging, ["registry-gc"])):
        pods_with_it = [
            spec
            for item in resources.render(model.describe(value))
            for spec in _pods_of(item)
            if volumes(spec, "sparkgen-runtime") == [PROGRAM]
        ]
        assert len(pods_with_it) == 1
        for name in names:
            assert runs_it(by_name(pods_with_it[0])[name])


def _pods_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    spec = item.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return [spec["template"]["spec"]] if "template" in spec else []


def test_an_image_comes_first() -> None:
    """A document that names both has the image, as before; nothing mounts the ConfigMap."""
    image = document(runtimeImage="a.b/c:1")
    both = document(runtimeImage="a.b/c:1", runtimeConfigMap=NAME, pythonImage="a.b/python:3")
    assert resources.render(model.describe(both)) == resources.render(model.describe(image))
