"""The command line against the cluster, as a person has it, and one application that ends as it is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from deployed import APPLICATIONS, document

from cluster import accounts, network
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import NAME

Done = subprocess.CompletedProcess[str]
Sparkgen = Callable[..., Done]
VERSION = TESTED_VERSIONS[0]


def command(cluster: Cluster, namespace: str, *arguments: str, kubeconfig: Path | None = None) -> list[str]:
    """`sparkgen ARGUMENTS` in a namespace of the cluster; what follows a `--` stays behind it."""
    prefix = network.enter(NAME) if cluster.own else []
    known = [] if arguments[0] == "render" else ["--kubeconfig", str(kubeconfig or cluster.kubeconfig)]
    options = ["-n", namespace, *known]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return [*prefix, sys.executable, "-m", "sparkgen", *arguments[:at], *options, *arguments[at:]]


def on(cluster: Cluster, namespace: str, folder: Path) -> Sparkgen:
    """A function: run a command in a folder, in a namespace."""

    def run(*arguments: str, kubeconfig: Path | None = None) -> Done:
        words = command(cluster, namespace, *arguments, kubeconfig=kubeconfig)
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=200)

    return run


def write(folder: Path, script: str = "ends.py", *arguments: str, **spec: Any) -> dict[str, Any]:
    """Write app.yaml: an application named app that runs a script of these tests."""
    value = document("app", VERSION, script, *arguments, **spec)
    (folder / "app.yaml").write_text(yaml.safe_dump(value))
    return value


def scripts(cluster: Cluster, namespace: str) -> None:
    """The ConfigMap with the scripts, which a person would have in the image."""
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "applications", "namespace": namespace},
            "data": {path.name: path.read_text() for path in APPLICATIONS.glob("*.py")},
        }
    )


def account(cluster: Cluster, namespace: str, folder: Path, *rules: dict[str, Any]) -> Path:
    """A kubeconfig of somebody who has these rights in the namespace, and no others."""
    group = "rbac.authorization.k8s.io"
    metadata = {"name": "somebody", "namespace": namespace}
    subject = {"kind": "ServiceAccount", **metadata}
    cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": list(rules)},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "somebody"},
            "subjects": [subject],
        },
    )
    token = cluster.kubectl("create", "token", "somebody", "-n", namespace).strip()
    return accounts.kubeconfig(cluster, token, folder / "somebody")
