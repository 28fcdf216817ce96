"""What the allocator reads of a pod, and nothing else. Pure.

The API server writes several kilobytes of each pod, and ten times as much memory as Python's objects: a list
of thousands is more than this container may have. `causes` and `observe` read what is kept here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.allocator.ports import Pod

METADATA = ("name", "uid", "deletionTimestamp")
LABELS = (contract.LABEL_EXECUTOR_ID, contract.LABEL_PROFILE_ID)
SPEC = ("nodeName", "readinessGates")
STATUS = ("phase", "reason", "message")
CONDITIONS = frozenset({"PodScheduled", "Ready", "ContainersReady", "DisruptionTarget"})
CONDITION = ("type", "status", "reason", "message")
CONTAINER_STATUS = ("name", "state")


def reduced(pod: Pod) -> Pod:
    """The pod as far as it is read: all that `causes` and `observe` say of it stays the same."""
    metadata, spec, status = (pod.get(part) or {} for part in ("metadata", "spec", "status"))
    return {
        "metadata": {
            **_of(metadata, METADATA),
            "labels": _of(metadata.get("labels") or {}, LABELS),
            "ownerReferences": _each(metadata.get("ownerReferences"), ("uid",)),
        },
        "spec": {**_of(spec, SPEC), "containers": [*map(_container, _spark(spec.get("containers")))]},
        "status": {
            **_of(status, STATUS),
            "conditions": _each(filter(_is_read, status.get("conditions") or ()), CONDITION),
            "initContainerStatuses": _each(status.get("initContainerStatuses"), CONTAINER_STATUS),
            "containerStatuses": _each(status.get("containerStatuses"), CONTAINER_STATUS),
        },
    }


def _is_read(condition: Mapping[str, Any]) -> bool:
    return condition.get("type") in CONDITIONS


def _spark(containers: Iterable[Mapping[str, Any]] | None) -> Iterable[Mapping[str, Any]]:
    return (entry for entry in containers or () if entry.get("name") == contract.EXECUTOR_CONTAINER)


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    limits = (container.get("resources") or {}).get("limits") or {}
    ports = (port for port in container.get("ports") or () if port.get("hostPort"))
    return {
        "name": contract.EXECUTOR_CONTAINER,
        "resources": {"limits": _of(limits, ("memory",))},
        "ports": _each(ports, ("name", "hostPort")),
    }


def _each(entries: Iterable[Mapping[str, Any]] | None, names: Iterable[str]) -> list[dict[str, Any]]:
    return [_of(entry, names) for entry in entries or ()]


def _of(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}
