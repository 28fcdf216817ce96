"""Shuffle services as values: the service that an application uses, and a service that is rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import Shuffle
from sparkgen.model.runtime import Runtime, runtime
from sparkgen.model.server import Server, server_fields
from sparkgen.model.sizes import daemon_memory

SERVICE_KIND = "SparkShuffleService"
"""The kind of documents that describe a service."""

DIRECTORY = "/var/lib/sparkgen/shuffle"
"""Where services keep their data on a node, each in a directory with its own name."""
HOST_PORTS = "23000-23999"
"""Below Kubernetes' node ports (from 30000) and Linux' ports for outgoing connections (from 32768)."""
SIDECAR_HEAP = "512m"
SERVICE_HEAP = "1g"
JANITOR_DEFAULTS: Mapping[str, Any] = {
    "intervalSeconds": 30,
    "graceSeconds": 300,
    "withoutAccessSeconds": 86400,
    "pressurePercent": 85,
    "port": contract.JANITOR_PORT,
    "dryRun": False,
}
"""The defaults of a section `janitor`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShuffleService(Server):
    """A document of the kind SparkShuffleService, ready to render."""

    COMPONENT = contract.SHUFFLE_CONTAINER
    LABEL = contract.LABEL_SHUFFLE_SERVICE

    runtime: Runtime
    port: int
    host_network: bool
    directories: tuple[str, ...]
    secret_name: str | None
    janitor: Mapping[str, Any]
    """The section `janitor`, with its defaults: seconds, and percent of a file system."""
    metrics_properties: str | None


def directories(given: Any, name: str) -> tuple[str, ...]:
    """The directories of a service with this name."""
    return tuple(given or (f"{DIRECTORY}/{name}",))


def application_shuffle(section: Mapping[str, Any] | None, namespace: str) -> Shuffle | None:
    """The service that an application in this namespace uses; None if it uses none."""
    if section is None:
        return None
    name = section.get("name", "")
    heap = to_mib(section.get("sidecarMemory", SIDECAR_HEAP))
    return Shuffle(
        mode=section.get("mode", "daemonset"),
        name=name,
        namespace=section.get("namespace") or namespace,
        port=section.get("port", contract.SHUFFLE_PORT),
        directories=directories(section.get("directories"), name),
        secret_name=section.get("secretName"),
        host_ports=section.get("hostPorts", HOST_PORTS),
        host_network=bool(section.get("hostNetwork", False)),
        heap=heap,
        memory=daemon_memory(heap),
        resources=section.get("sidecarResources") or {},
    )


def build_service(value: Mapping[str, Any], namespace: str | None = None) -> ShuffleService:
    """The service that a document describes; `build` does the same for applications."""
    spec = value["spec"]
    return ShuffleService(
        **server_fields(value, namespace, SERVICE_HEAP),
        runtime=runtime(spec),
        port=spec.get("port", contract.SHUFFLE_PORT),
        host_network=bool(spec.get("hostNetwork", False)),
        directories=directories(spec.get("directories"), value["metadata"]["name"]),
        secret_name=spec.get("secretName"),
        janitor={**JANITOR_DEFAULTS, **(spec.get("janitor") or {})},
        metrics_properties=(spec.get("monitoring") or {}).get("metricsProperties"),
    )
