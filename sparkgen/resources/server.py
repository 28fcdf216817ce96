"""What the objects of Spark's daemons have in common, whatever they serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract, names
from sparkgen.model.server import Server
from sparkgen.objects import Object
from sparkgen.resources.fill import fill
from sparkgen.resources.object_layers import OBJECT_LAYERS

CONFIG_ANNOTATION = "sparkgen.dev/config"
"""A digest of the ConfigMap: with another one the pods are replaced."""


def metadata_of(server: Server, name: str) -> Object:
    """Name, namespace, labels and annotations of an object."""
    labels = {**server.labels, **_own_labels(server)}
    metadata: Object = {"name": name, "namespace": server.namespace, "labels": labels}
    if server.annotations:
        metadata["annotations"] = dict(server.annotations)
    return metadata


def _own_labels(server: Server) -> dict[str, str]:
    return {
        contract.LABEL_NAME: server.name,
        contract.LABEL_COMPONENT: server.COMPONENT,
        contract.LABEL_MANAGED_BY: "sparkgen",
        server.LABEL: server.name,
    }


def selector(server: Server) -> dict[str, Any]:
    """Its pods, and no others."""
    return {"matchLabels": {server.LABEL: server.name}}


def service_account(server: Server) -> Object | None:
    """The account of the pods. None of them gets its token unless it asks."""
    if not server.create_account:
        return None
    metadata = metadata_of(server, server.account)
    annotations = (server.spec.get("serviceAccount") or {}).get("annotations")
    if annotations:
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    return fill(OBJECT_LAYERS["service_account"], {"metadata": metadata})


def config_map(server: Server, files: Mapping[str, str]) -> Object:
    """The daemon's configuration directory."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata_of(server, f"{server.name}-conf"),
        "data": dict(files),
    }


def network_policy(server: Server, rules: list[Object]) -> Object:
    """Who may reach the pods."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata_of(server, server.name),
        "spec": {"podSelector": selector(server), "policyTypes": ["Ingress"], "ingress": rules},
    }


def pod_metadata(server: Server, files: Mapping[str, str]) -> Object:
    """Labels and annotations of the pods, which another configuration replaces."""
    own = {CONFIG_ANNOTATION: names.digest(dict(files), 16), "linkerd.io/inject": "disabled"}
    labels = {"sidecar.istio.io/inject": "false", **server.labels, **(server.spec.get("labels") or {})}
    return {
        "labels": {**labels, **_own_labels(server)},
        "annotations": {**own, **(server.spec.get("annotations") or {})},
    }


def values(server: Server, files: Mapping[str, str]) -> dict[str, Any]:
    """The values that the layers of both servers have places for (object_layers.py)."""
    return {
        "name": server.name,
        "metadata": metadata_of(server, server.name),
        "podMetadata": pod_metadata(server, files),
        "account": server.account,
        "role": server.spec,
        "image": server.image,
        "pullPolicy": server.image_pull_policy,
        "pullSecrets": [{"name": name} for name in server.spec.get("imagePullSecrets") or ()],
        "daemonEnv": daemon_env(server),
    }


def daemon_env(server: Server) -> list[Object]:
    """What Spark's launcher of daemons reads (SparkClassCommandBuilder)."""
    env: list[Object] = [
        {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
        {"name": "SPARK_DAEMON_MEMORY", "value": f"{server.heap}m"},
    ]
    if server.java_options:
        env.append({"name": "SPARK_DAEMON_JAVA_OPTS", "value": server.java_options})
    return env
