"""Laws of rendering, for documents generated from the schema."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given, settings

from k8s import crds, pod_security
from sparkgen import contract
from sparkgen.model import build
from sparkgen.names import canonical_json
from sparkgen.resources import render, run_name
from sparkgen.yamltext import dump
from tests.fake_runtime import VARIABLE
from tests.property.strategies import documents

Value = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
OURS = ("install", "allocator", "spark-kubernetes-driver", "spark-kubernetes-executor")


def generated(number: int | None = None) -> list[Value]:
    """So many valid documents, for tests that look at all of them at once."""
    found: list[Value] = []

    @settings(max_examples=number or settings.default.max_examples)
    @given(documents())
    def collect(value: Value) -> None:
        found.append(value)

    collect()
    return found


def as_yaml(value: Value) -> str:
    """A document's text in which nothing can be read as something else: JSON, with YAML's escapes."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return re.sub(r"[^ -~\n]", lambda char: f"\\U{ord(char[0]):08X}", text)


def pods(objects: tuple[Value, ...]) -> Iterator[Value]:
    """The pod templates of driver and executor, and of what removes ended runs."""
    for item in objects:
        spec = item.get("spec", {})
        yield from (
            inner["template"]
            for inner in (spec, spec.get("jobTemplate", {}).get("spec", {}))
            if "template" in inner
        )
        if "executor.json" in item.get("data", {}):
            yield dict(contract.executor_template(json.loads(item["data"]["executor.json"])))


@given(documents())
def test_every_valid_document_renders(value: Value) -> None:
    """Objects that are complete, in one namespace, each the only one of its kind and name."""
    before = canonical_json(value)
    application = build(value)
    objects = render(application)
    assert canonical_json(value) == before
    names = [(item["kind"], item["metadata"]["name"]) for item in objects]
    assert len(set(names)) == len(names)
    assert {item["metadata"]["namespace"] for item in objects} == {application.namespace}
    assert all(item["apiVersion"] for item in objects)
    assert run_name(application) in {item["metadata"]["labels"].get("sparkgen.dev/run") for item in objects}


@given(documents())
def test_what_is_written_reads_back(value: Value) -> None:
    """The YAML of every object is the object, for a reader that knows nothing of sparkgen."""
    for item in render(build(value)):
        assert yaml.safe_load(dump(item)) == item


@given(documents())
def test_the_pods_are_there_and_whole(value: Value) -> None:
    """Every mount has its volume, every volume its mount, and no name stands twice."""
    found = list(pods(render(build(value))))
    components = sorted(pod["metadata"]["labels"]["app.kubernetes.io/component"] for pod in found)
    assert components in (["driver", "executor"], ["driver", "executor", "history"])
    for pod in found:
        containers = [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]
        mounts = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
        volumes = [volume["name"] for volume in pod["spec"].get("volumes", ())]
        assert mounts == set(volumes)
        assert len(set(volumes)) == len(volumes)
        for container in containers:
            places = [mount["mountPath"] for mount in container.get("volumeMounts", ())]
            variables = [variable["name"] for variable in container.get("env", ())]
            assert len(set(places)) == len(places)
            assert len(set(variables)) == len(variables)
        names = [container["name"] for container in containers]
        assert len(set(names)) == len(names)


@given(documents())
def test_what_sparkgen_adds_is_restricted(value: Value) -> None:
    """Pod Security objects to nothing but what the document brought along itself."""
    for pod in pods(render(build(value))):
        for sentence in pod_security.violations(pod):
            assert not any(f" {name}:" in sentence for name in OURS), sentence


@given(documents())
def test_the_order_of_keys_changes_nothing(value: Value) -> None:
    """A document with its keys in another order is the same run."""

    def reversed_keys(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: reversed_keys(item[key]) for key in reversed(item)}
        return [reversed_keys(one) for one in item] if isinstance(item, list) else item

    assert run_name(build(reversed_keys(value))) == run_name(build(value))


def test_kubernetes_accepts_everything(kubeconform: Callable[..., tuple[object, ...]]) -> None:
    """Strict schemas of Kubernetes 1.30 to 1.36 and of the Gateway API, over all of a hundred documents."""
    manifests: dict[str, str] = {}
    newer: list[str] = []
    for number, value in enumerate(generated()):
        objects = []
        for item in render(build(value)):
            if crds.is_custom(item):
                assert crds.errors(json.loads(canonical_json(item))) == []
            else:
                objects.append(item)
        manifests[f"{number}.yaml"] = "---\n".join(dump(item) for item in objects)
        (template,) = [
            item["data"]["executor.json"] for item in objects if "executor.json" in item.get("data", {})
        ]
        manifests[f"{number}.json"] = template
        if value["spec"].get("template", value["spec"]).get("delivery", {}).get("mount") == "image":
            newer += [f"{number}.yaml", f"{number}.json"]
    assert kubeconform(manifests, image_volumes=newer) == ()


WORLDS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LANG": "C", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"},
)


def write_documents(folder: Path, values: list[Value]) -> None:
    """A folder with these documents, each under a name of its own, its account too, and the examples.

    Those with local files stay out: a copy of the document alone would miss them.
    """
    folder.mkdir(parents=True)
    alone = [value for value in values if "artifacts" not in value["spec"].get("template", value["spec"])]
    for index, value in enumerate(alone):
        value["metadata"]["name"] = f"a{index}"
        account = value["spec"].get("template", value["spec"]).get("serviceAccount", {})
        if "name" in account:
            account["name"] = f"account-{index}"
        (folder / f"{index:02}.yaml").write_text(as_yaml(value), "utf-8")
    for path in EXAMPLES.glob("*/app.yaml"):
        if path.parent.name in ("code-in-git", "laptop-code"):
            continue
        shutil.copy(path, folder / f"{path.parent.name}.yaml")


def rendered_in(home: Path, where: Path, world: dict[str, str]) -> dict[str, bytes]:
    """What the command line writes for `home/documents`, called in the folder `where`: path -> bytes."""
    source = os.path.relpath(home / "documents", where)
    command = [sys.executable, "-m", "sparkgen", "render", source, "--output-dir", str(home / "out")]
    runtime = {VARIABLE: os.environ[VARIABLE]}
    env = {"PATH": os.environ["PATH"], "HOME": str(home), **runtime, **world}
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    files = [path for path in (home / "out").rglob("*") if path.is_file()]
    return {str(path.relative_to(home / "out")): path.read_bytes() for path in files}


def test_rendering_depends_on_the_document_alone(tmp_path: Path) -> None:
    """Another hash seed, time zone, locale, working directory, place and time: the same bytes."""
    values = generated(25)
    one, other = tmp_path / "one", tmp_path / "another place"
    for home in (one, other):
        write_documents(home / "documents", values)
    made = rendered_in(one, one / "documents", WORLDS[0])
    assert made == rendered_in(other, other, WORLDS[1])
    assert len(made) > 300
