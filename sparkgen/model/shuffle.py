"""Shuffle services as values: the one that an application uses, and one that is rendered itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import DEFAULT_NAMESPACE, Shuffle, Target
from sparkgen.model.sizes import daemon_memory

SERVICE_KIND = "SparkShuffleService"
"""The kind of documents that describe a service."""

DIRECTORY = "/var/lib/sparkgen/shuffle"
"""Where services keep their data on a node, each in a directory of its own name."""
HOST_PORTS = "23000-23999"
"""Below Kubernetes' node ports (from 30000) and Linux' ports for outgoing connections (from 32768)."""
SIDECAR_HEAP = "512m"
SERVICE_HEAP = "1g"


@dataclass(frozen=True, slots=True)
class Janitor:
    """What removes shuffle data of applications that are gone: seconds, and percent of a file system."""

    interval: int
    grace: int
    without_access: int
    pressure: int
    port: int
    dry_run: bool
    resources: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShuffleService:
    """A document of the kind SparkShuffleService, ready to render. `heap` and `memory` are in MiB."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    target: Target
    spec: Mapping[str, Any]
    image: str
    image_pull_policy: str | None
    runtime_image: str
    port: int
    host_network: bool
    directories: tuple[str, ...]
    secret_name: str | None
    heap: int
    memory: int
    java_options: str
    properties: Mapping[str, str]
    account: str
    create_account: bool
    network_policy: Mapping[str, Any] | None
    janitor: Janitor
    log_level: str
    loggers: Mapping[str, str]
    metrics_properties: str | None


def directories(given: Any, name: str) -> tuple[str, ...]:
    """The directories of a service of this name."""
    return tuple(given or (f"{DIRECTORY}/{name}",))


def application_shuffle(section: Mapping[str, Any] | None, namespace: str) -> Shuffle | None:
    """The service that an application in this namespace asks for; None where it asks for none."""
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
    """The service that a document describes; as `build` does it for applications."""
    metadata, spec = value["metadata"], value["spec"]
    name = metadata["name"]
    account = spec.get("serviceAccount") or {}
    policy = spec.get("networkPolicy")
    logging = spec.get("logging") or {}
    heap = to_mib(spec.get("memory", SERVICE_HEAP))
    return ShuffleService(
        name=name,
        namespace=metadata.get("namespace") or namespace or DEFAULT_NAMESPACE,
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        target=metadata.get("target") or "kubectl",
        spec=spec,
        image=spec["image"],
        image_pull_policy=spec.get("imagePullPolicy"),
        runtime_image=spec.get("runtimeImage") or contract.RUNTIME_IMAGE,
        port=spec.get("port", contract.SHUFFLE_PORT),
        host_network=bool(spec.get("hostNetwork", False)),
        directories=directories(spec.get("directories"), name),
        secret_name=spec.get("secretName"),
        heap=heap,
        memory=daemon_memory(heap),
        java_options=spec.get("javaOptions", ""),
        properties=spec.get("sparkConf") or {},
        account=account.get("name") or name,
        create_account=bool(account.get("create", True)),
        network_policy=policy if policy is not None and policy.get("enabled", True) else None,
        janitor=_janitor(spec.get("janitor") or {}),
        log_level=logging.get("level", "INFO"),
        loggers=logging.get("loggers") or {},
        metrics_properties=(spec.get("monitoring") or {}).get("metricsProperties"),
    )


def _janitor(section: Mapping[str, Any]) -> Janitor:
    return Janitor(
        interval=section.get("intervalSeconds", 30),
        grace=section.get("graceSeconds", 300),
        without_access=section.get("withoutAccessSeconds", 86400),
        pressure=section.get("pressurePercent", 85),
        port=section.get("port", contract.JANITOR_PORT),
        dry_run=bool(section.get("dryRun", False)),
        resources=section.get("resources") or {},
    )
