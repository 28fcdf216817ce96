"""What the objects of all servers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract, names
from sparkgen.model.server import Server
from sparkgen.objects import Object

CONFIG_ANNOTATION = "sparkgen.dev/config"
"""A digest of the ConfigMap: if it changes, the pods are replaced."""


def labels(server: Server) -> dict[str, str]:
    """The labels of all objects; sparkgen's own win."""
    return {**server.labels, **_own_labels(server)}


def _own_labels(server: Server) -> dict[str, str]:
    return {
        contract.LABEL_NAME: server.name,
        contract.LABEL_COMPONENT: server.COMPONENT,
        contract.LABEL_MANAGED_BY: "sparkgen",
        server.LABEL: server.name,
    }


def pod_metadata(server: Server, files: Mapping[str, str]) -> Object:
    """Labels and annotations of the pods, which are replaced if the configuration changes."""
    own = {CONFIG_ANNOTATION: names.digest(dict(files), 16), "linkerd.io/inject": "disabled"}
    given = {"sidecar.istio.io/inject": "false", **server.labels, **(server.spec.get("labels") or {})}
    return {
        "labels": {**given, **_own_labels(server)},
        "annotations": {**own, **(server.spec.get("annotations") or {})},
    }


def values(server: Server, files: Mapping[str, str]) -> dict[str, Any]:
    """The values for the layers of all servers (object_layers.py)."""
    account = server.spec.get("serviceAccount") or {}
    return {
        "name": server.name,
        "namespace": server.namespace,
        "labels": labels(server),
        "annotations": server.annotations,
        "podMetadata": pod_metadata(server, files),
        "account": server.account,
        "createAccount": server.create_account,
        "accountAnnotations": {**server.annotations, **(account.get("annotations") or {})},
        "files": files,
        "policy": server.network_policy is not None,
        "role": server.spec,
        "image": server.image,
        "pullPolicy": server.image_pull_policy,
        "pullSecrets": [{"name": name} for name in server.spec.get("imagePullSecrets") or ()],
        "heap": server.heap,
    }


def peers(server: Server, field: str) -> list[Object]:
    """The peers that a field of `networkPolicy` lists, maybe none; without it, the namespace's pods."""
    named: list[Object] | None = (server.network_policy or {}).get(field)
    return [{"podSelector": {}}] if named is None else named
