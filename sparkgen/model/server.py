"""Values that are common to documents of servers, which serve many applications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import DEFAULT_NAMESPACE, Target
from sparkgen.model.sizes import daemon_memory
from sparkgen.properties.older import under_new_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server for many applications, ready to render: a daemon of Spark, or a registry.

    `heap` and `memory` are in MiB, and 0 without a JVM.

    `COMPONENT` is the value of the component label, and `LABEL` the key of the label that selects its pods.
    """

    COMPONENT: ClassVar[str]
    LABEL: ClassVar[str]

    name: str
    namespace: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    target: Target
    spec: Mapping[str, Any]
    image: str
    image_pull_policy: str | None
    heap: int
    memory: int
    java_options: str
    properties: Mapping[str, str]
    account: str
    create_account: bool
    network_policy: Mapping[str, Any] | None
    log_level: str
    loggers: Mapping[str, str]


def server_fields(value: Mapping[str, Any], namespace: str | None, heap: str | None) -> dict[str, Any]:
    """The fields of a Server from a valid document. `heap`: the default of its memory.

    `heap` is None if there is no JVM.
    """
    metadata, spec = value["metadata"], value["spec"]
    account = spec.get("serviceAccount") or {}
    policy = spec.get("networkPolicy")
    logging = spec.get("logging") or {}
    mib = 0 if heap is None else to_mib(spec.get("memory", heap))
    return {
        "name": metadata["name"],
        "namespace": metadata.get("namespace") or namespace or DEFAULT_NAMESPACE,
        "labels": metadata.get("labels") or {},
        "annotations": metadata.get("annotations") or {},
        "target": metadata.get("target") or "kubectl",
        "spec": spec,
        "image": spec["image"],
        "image_pull_policy": spec.get("imagePullPolicy"),
        "heap": mib,
        "memory": 0 if heap is None else daemon_memory(mib),
        "java_options": spec.get("javaOptions", ""),
        "properties": under_new_names(spec.get("sparkConf") or {}),
        "account": account.get("name") or metadata["name"],
        "create_account": bool(account.get("create", True)),
        "network_policy": policy if policy is not None and policy.get("enabled", True) else None,
        "log_level": logging.get("level", "INFO"),
        "loggers": logging.get("loggers") or {},
    }
