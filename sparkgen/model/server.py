"""Values that are common to documents of servers, which serve many applications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sparkgen.grammar.memory import to_mib
from sparkgen.model.application import Described, common_fields
from sparkgen.model.sizes import daemon_memory
from sparkgen.properties.older import under_new_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Server(Described):
    """A server for many applications, ready to render: a daemon of Spark, or a registry.

    `heap` and `memory` are in MiB, and 0 without a JVM.

    `COMPONENT` is the value of the component label, and `LABEL` the key of the label that selects its pods.
    """

    COMPONENT: ClassVar[str]
    LABEL: ClassVar[str]

    spec: Mapping[str, Any]
    image: str
    heap: int
    memory: int
    java_options: str
    properties: Mapping[str, str]
    account: str
    create_account: bool


def server_fields(value: Mapping[str, Any], namespace: str | None, heap: str | None) -> dict[str, Any]:
    """The fields of a Server from a valid document. `heap`: the default of its memory.

    `heap` is None if there is no JVM.
    """
    metadata, spec = value["metadata"], value["spec"]
    account = spec.get("serviceAccount") or {}
    mib = 0 if heap is None else to_mib(spec.get("memory", heap))
    return {
        **common_fields(metadata, spec, namespace),
        "spec": spec,
        "image": spec["image"],
        "heap": mib,
        "memory": 0 if heap is None else daemon_memory(mib),
        "java_options": spec.get("javaOptions", ""),
        "properties": under_new_names(spec.get("sparkConf") or {}),
        "account": account.get("name") or metadata["name"],
        "create_account": bool(account.get("create", True)),
    }
