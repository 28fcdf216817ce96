"""Additions to an application's objects if a shuffle service keeps its executors' files.

docs/design/shuffle.md explains what Spark needs, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, Role, Shuffle
from sparkgen.resources import layers, pod
from sparkgen.resources.merge import merge
from sparkgen.resources.text import static_text

SERVICE_PORT = "spark.shuffle.service.port"
FOLDER = f"$({contract.ENV_SHUFFLE_FOLDER})"
"""The application's own part of a path: Kubernetes expands it in variables, the allocator in mounts."""

NODE_DEFAULTS = {
    # A restart of the service takes 5 to 20 seconds, and must not make Spark compute anything again.
    "spark.shuffle.io.maxRetries": "10",
    # A node that vanished silently blocks each try for this long; Spark's own default is two minutes.
    "spark.shuffle.io.connectionCreationTimeout": "10s",
    "spark.shuffle.registration.maxAttempts": "10",
    "spark.shuffle.service.removeShuffle": "true",
    "spark.files.fetchFailure.unRegisterOutputOnHost": "true",
}
"""Properties for a service on the node, which a document may change."""

SIDECAR_REQUEST = {"cpu": "100m"}


def shuffle_defaults(shuffle: Shuffle) -> dict[str, str]:
    """Spark properties that a document may change."""
    return dict(NODE_DEFAULTS) if shuffle.on_node else {}


def shuffle_properties(shuffle: Shuffle) -> dict[str, str]:
    """Spark properties that the service needs. With a service, Spark does not track shuffle data itself."""
    return {
        "spark.shuffle.service.enabled": "true",
        SERVICE_PORT: str(shuffle.port),
        "spark.dynamicAllocation.shuffleTracking.enabled": "false",
        "spark.sparkgen.shuffleService.mode": shuffle.mode,
    }


def host_ports(shuffle: Shuffle) -> list[dict[str, Any]]:
    """The host ports that executors may use, for a network policy."""
    first, _, last = shuffle.host_ports.partition("-")
    return [{"protocol": "TCP", "port": int(first), "endPort": int(last)}]


def executor_scripts(shuffle: Shuffle | None) -> dict[str, str]:
    """The scripts that start an executor. With a service on its node, its host name is the node's address."""
    script = static_text(contract.EXECUTOR_SCRIPT_FILE)
    if shuffle is None or not shuffle.on_node:
        return {contract.EXECUTOR_SCRIPT_FILE: script}
    return {
        contract.EXECUTOR_SCRIPT_FILE: script.replace(
            contract.HOSTNAME_OPTION, contract.SHUFFLE_HOSTNAME_OPTION
        ),
        contract.SHUFFLE_SCRIPT_FILE: static_text(contract.SHUFFLE_SCRIPT_FILE),
    }


def shuffle_values(application: Application, role: Role) -> dict[str, Any]:
    """The values for the service on an executor's node, or for the service as a sidecar (layers.py)."""
    shuffle = application.shuffle
    return {
        "onNode": shuffle is not None and shuffle.on_node,
        "ownTerms": _own_terms(role),
        "shuffle": _node_values(shuffle) if shuffle is not None and shuffle.on_node else None,
        "sidecar": None
        if shuffle is None or shuffle.on_node
        else _sidecar_values(application, role, shuffle),
    }


def _node_values(shuffle: Shuffle) -> dict[str, Any]:
    named = [
        (f"{contract.SHUFFLE_VOLUME_PREFIX}{index}", path) for index, path in enumerate(shuffle.directories)
    ]
    return {
        "name": shuffle.name,
        "namespace": shuffle.namespace,
        "portText": str(shuffle.port),
        "hostPorts": shuffle.host_ports,
        "places": ",".join(f"{path}/{FOLDER}" for path in shuffle.directories),
        "mounts": [
            {"name": name, "mountPath": f"{path}/{FOLDER}", "subPath": FOLDER} for name, path in named
        ],
        # If the directory does not exist, no service has prepared it.
        "volumes": [{"name": name, "hostPath": {"path": path, "type": "Directory"}} for name, path in named],
        "hostNetwork": True if shuffle.host_network else None,
        "dnsPolicy": "ClusterFirstWithHostNet" if shuffle.host_network else None,
    }


def _own_terms(role: Role) -> list[Mapping[str, Any]]:
    """The document's own terms of pod affinity, typed ones first: lists of two layers are not joined."""
    for source in (role.spec, (role.spec.get("template") or {}).get("spec") or {}):
        terms = ((source.get("affinity") or {}).get("podAffinity") or {}).get(layers.REQUIRED)
        if terms:
            return list(terms)
    return []


def _sidecar_values(application: Application, role: Role, shuffle: Shuffle) -> dict[str, Any]:
    mounts = pod.local_dir_mounts(role) or {
        contract.SCRATCH_DIR: {"name": contract.SCRATCH_VOLUME, "mountPath": contract.SCRATCH_DIR}
    }
    properties = {
        SERVICE_PORT: str(shuffle.port),
        "spark.local.dir": ",".join(mounts),
        "spark.authenticate": application.properties.get("spark.authenticate", "true"),
    }
    return {
        "heap": shuffle.heap,
        "port": shuffle.port,
        "options": " ".join(f"-D{name}={text}" for name, text in properties.items()),
        "resources": merge(daemon_resources(shuffle.memory, SIDECAR_REQUEST), shuffle.resources),
        "mounts": [dict(mount) for mount in mounts.values()],
    }


def daemon_resources(memory: int, requests: Mapping[str, str]) -> dict[str, Any]:
    """Requests and limits of a daemon's container that needs `memory` MiB."""
    size = {"memory": f"{memory}Mi"}
    return {"requests": {**requests, **size}, "limits": size}
