"""Loads a built image onto the nodes of a local cluster, with the cluster's own tool: without a registry."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.image.builders import Plan, Step
from sparkgen.local.errors import CannotRun
from sparkgen.local.progress import Progress, run


@dataclass(frozen=True, slots=True)
class Tool:
    """What loads images. `program`: its command; `flag`: the option that names a cluster, "" if it has none.

    `command`: the words that load an archive; `clusters`: what lists the clusters.
    """

    program: str
    command: tuple[str, ...]
    flag: str = ""
    clusters: str = ""


TOOLS: Mapping[str, Tool] = {
    # https://kind.sigs.k8s.io/docs/user/quick-start/#loading-an-image-into-your-cluster
    "kind": Tool("kind", ("load", "image-archive"), "--name", "kind get clusters"),
    # https://k3d.io/stable/usage/commands/k3d_image_import/
    "k3d": Tool("k3d", ("image", "import"), "--cluster", "k3d cluster list"),
    # https://minikube.sigs.k8s.io/docs/commands/image/#minikube-image-load
    "minikube": Tool("minikube", ("image", "load"), "--profile", "minikube profile list"),
    # k8s.io is the namespace of the kubelet's images. ctr reads CONTAINERD_ADDRESS for another socket.
    "containerd": Tool("ctr", ("--namespace=k8s.io", "images", "import")),
}


def check(name: str, cluster: str, plan: Plan, environment: Mapping[str, str]) -> None:
    """Raise SparkgenError if the options cannot be combined, and CannotRun if the tool is not installed."""
    if not name:
        if cluster:
            raise SparkgenError("--cluster needs --load: it names the cluster to load the image into")
        return
    if name not in TOOLS:
        raise SparkgenError(f"unknown --load {name!r}; use one of {', '.join(TOOLS)}")
    tool = TOOLS[name]
    if plan.index:
        option = "--push" if plan.push else "--output"
        raise SparkgenError(f"--load and {option} cannot be combined: build twice, or load the file yourself")
    if plan.name.endswith(":latest"):
        raise SparkgenError(
            "--load needs another tag than latest, with which a node pulls the image from a registry"
        )
    if cluster and not tool.flag:
        raise SparkgenError(f"--cluster does not apply to --load {name}, which loads into this machine's own")
    if not shutil.which(tool.program, path=environment.get("PATH")):
        raise CannotRun(f"there is no {tool.program} on the PATH: install it, or omit --load")


def load(
    name: str, cluster: str, steps: Callable[[Path], Sequence[Step]], folder: Path, progress: Progress
) -> None:
    """Run the builder's `steps` that write the image to a file in `folder`, and load this file.

    Raises CannotRun with the next step if a command fails.
    """
    tool, archive = TOOLS[name], folder / "image.tar"
    where = [f"{tool.flag}={cluster}"] if cluster else []
    for title, command in steps(archive):
        run(progress, title, command)
    try:
        run(progress, f"loading it with {tool.program}", [tool.program, *tool.command, *where, str(archive)])
    except CannotRun as error:
        raise CannotRun(f"{error}\n{advice(str(error), tool)}".rstrip()) from None


def advice(said: str, tool: Tool) -> str:
    """What to do about a tool's error; "" for an unknown error."""
    missing = r"no nodes found|failed to get cluster|profile .* not found"
    if tool.clusters and re.search(missing, said, re.IGNORECASE):
        return f"next: name the cluster with --cluster; `{tool.clusters}` lists them"
    if re.search(r"permission denied", said, re.IGNORECASE):
        return f"next: run the command as a user that may use {tool.program}, such as root"
    if re.search(r"failed to dial", said, re.IGNORECASE):
        return "next: run the command on the node, or set CONTAINERD_ADDRESS to the socket of its containerd"
    return ""
