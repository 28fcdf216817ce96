"""Fake nodes by kwok: their pods are Running at once, without real containers. They have a taint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster import configs, control, network, processes
from cluster.plan import LAYOUT, NAME, Layout
from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from gotools import gotools

TAINT = {"key": configs.KWOK_ANNOTATION, "value": "fake", "effect": "NoSchedule"}
"""The taint that keeps real pods away; a pod that is to run here tolerates it."""

LABEL = {"type": "kwok"}

PLACE = {"nodeSelector": LABEL, "tolerations": [TAINT]}
"""The fields of a pod that is to run on fake nodes."""

STAGES = ("node/fast", "node/heartbeat-with-lease", "pod/fast")
"""Folders of kwok's own module that describe how its nodes and pods behave."""


def name_of(number: int) -> str:
    """The name of a fake node; numbers start at 1."""
    return f"fake{number}"


def node(number: int) -> dict[str, Any]:
    """A fake node as an object: 64 cores, 512 GiB, 1,000 pods."""
    name = name_of(number)
    size = {"cpu": "64", "memory": "512Gi", "pods": "1000", "ephemeral-storage": "1Ti"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {configs.KWOK_ANNOTATION: "fake", "node.alpha.kubernetes.io/ttl": "0"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                **LABEL,
            },
        },
        "spec": {"taints": [TAINT]},
        "status": {"allocatable": size, "capacity": size, "phase": "Running"},
    }


def stages() -> Path:
    """The file of stages, from the same module from which kwok is built."""
    module = gotools.read_module(gotools.find_tool("kwok"))
    version = module.version_of("sigs.k8s.io/kwok")

    def make(folder: Path) -> None:
        source = gotools.source("kwok") / "kustomize" / "stage"
        files = [file for part in STAGES for file in sorted((source / part).glob("*.yaml"))]
        texts = [file.read_text() for file in files if file.name != "kustomization.yaml"]
        (folder / "stages.yaml").write_text("\n---\n".join(texts))

    root = cache_root(environment())
    return publish(root / "kwok-stages" / f"{version}-{key(*STAGES)}", make) / "stages.yaml"


def start(layout: Layout = LAYOUT) -> None:
    """Start kwok, if it does not run."""
    file = control.pid_file(layout, "kwok")
    if processes.alive(processes.read(file)):
        return
    command = [*network.enter(NAME), str(gotools.ensure("kwok")), *configs.kwok(layout, stages())]
    processes.start(command, layout.logs / "kwok.log", file)
    progress.say("started kwok")


def add(count: int, layout: Layout = LAYOUT) -> None:
    """Create the fake nodes 1 to `count` (existing ones stay), and start kwok, which keeps them Ready."""
    start(layout)
    items = {"apiVersion": "v1", "kind": "List", "items": [node(number + 1) for number in range(count)]}
    kubectl = gotools.ensure("kubectl")
    _call(
        layout,
        kubectl,
        "create fake nodes",
        "apply",
        "--server-side",
        "-f",
        "-",
        input_text=json.dumps(items),
    )
    wait = ("wait", "node", "-l", "type=kwok", "--for=condition=Ready", "--timeout=60s")
    if (done := control.call(layout, kubectl, *wait)).returncode:
        log = layout.logs / "kwok.log"
        raise ToolError(f"the fake nodes are not Ready: {done.stderr.strip()}\n{processes.last_lines(log)}")


def remove(keep: int = 0, layout: Layout = LAYOUT) -> None:
    """Remove the fake nodes, except for the first `keep`."""
    kubectl = gotools.ensure("kubectl")
    said = _call(layout, kubectl, "list fake nodes", "get", "node", "-l", "type=kwok", "-o", "name")
    kept = {f"node/{name_of(number + 1)}" for number in range(keep)}
    if surplus := sorted(set(said.split()) - kept):
        _call(layout, kubectl, "remove fake nodes", "delete", *surplus)


@contextmanager
def added(count: int) -> Iterator[None]:
    """Create so many fake nodes, and remove them at the end."""
    add(count)
    try:
        yield
    finally:
        remove()


def _call(layout: Layout, kubectl: Path, what: str, *arguments: str, input_text: str | None = None) -> str:
    done = control.call(layout, kubectl, *arguments, input_text=input_text)
    if done.returncode:
        raise ToolError(f"cannot {what}: {done.stderr.strip()}")
    return done.stdout
