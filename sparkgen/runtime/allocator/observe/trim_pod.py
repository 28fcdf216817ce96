"""Reduces pods to what the allocator reads. Pure.

The API server writes several kilobytes for each pod, and Python objects need ten times as much memory: a list
of thousands of pods needs more than this container may have. Others may write megabytes into a pod with our
labels. `causes` and `view` read what is kept here, and need not check its types, which are checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.runtime.allocator.values.backend import Pod
from sparkgen.runtime.kubernetes.untrusted import (
    MAX_NAME,
    Malformed,
    mapping,
    message_in,
    name_in,
    number_in,
    objects,
    shown,
)

METADATA = ("name", "uid", "deletionTimestamp", "resourceVersion")
ANNOTATIONS = (contract.ANNOTATION_ADDED_MEMORY,)
LABELS = (contract.LABEL_EXECUTOR_ID, contract.LABEL_PROFILE_ID, contract.LABEL_POOL)
CONDITIONS = frozenset({"PodScheduled", "Ready", "ContainersReady", "DisruptionTarget", "TerminationTarget"})
MAX_QUANTITY = 32
"""The most characters of a quantity that is read: Kubernetes keeps one with a thousand leading zeros."""
UNREADABLE = "unreadable"
"""The field of a reduced pod that was malformed: the reason."""
STATES = ("waiting", "running", "terminated")
MAX_ENTRIES = 64
"""The most entries of a list in a pod that are read: owners, containers, ports. An executor has a few."""


def trim_pod(pod: Pod) -> Pod:
    """Returns the pod with only the fields that are read: `causes` and `view` give the same results for it.

    Raises Malformed if a part has another type than Kubernetes gives it, or is too large.
    """
    if isinstance(pod.get(UNREADABLE), str):
        raise Malformed(pod[UNREADABLE])
    metadata, spec, status = (mapping(pod.get(part), part) for part in ("metadata", "spec", "status"))
    return {
        "metadata": {
            **_names(metadata, METADATA),
            "labels": _names(mapping(metadata.get("labels"), "labels"), LABELS),
            "annotations": _short(mapping(metadata.get("annotations"), "annotations"), ANNOTATIONS),
            "ownerReferences": [{"uid": uid} for uid in _owners(metadata)],
        },
        "spec": {
            **_names(spec, ("nodeName", "restartPolicy")),
            "schedulingGroup": _names(
                mapping(spec.get("schedulingGroup"), "schedulingGroup"), ("podGroupName",)
            ),
            "readinessGates": [{} for _ in _each(spec, "readinessGates")[:1]],
            "containers": [
                *map(_container, filter(_is_spark, objects(spec.get("containers"), "containers")))
            ],
        },
        "status": {
            **_names(status, ("phase", "reason", "hostIP")),
            **_messages(status),
            "conditions": [*map(_condition, filter(_is_read, _each(status, "conditions")))],
            "initContainerStatuses": [*map(_container_status, _each(status, "initContainerStatuses"))],
            "containerStatuses": [*map(_container_status, _each(status, "containerStatuses"))],
        },
    }


def owned_by(pod: Pod, uid: str) -> bool:
    """Whether the object with this UID owns a whole or reduced pod.

    Raises Malformed only if metadata or owners have another type, which no API server stores: whoever may
    create pods chooses the rest.
    """
    return uid in _owners(mapping(pod.get("metadata"), "metadata"))


def trim_decoded(value: dict[str, Any]) -> Any:
    """Replaces an object while JSON is decoded (jsonvalue.decode): a pod by the reduced pod.

    So a page of large pods takes no more memory than the largest of them. Other objects stay as they are.
    Of a malformed pod, its owners and the error are kept: whoever reads a pod of ours reports the error.
    """
    if not (isinstance(value.get("metadata"), dict) and isinstance(value.get("spec"), dict)):
        return value
    try:
        return trim_pod(value)
    except Malformed as error:
        return _unreadable(value, str(error))


def _unreadable(pod: dict[str, Any], why: str) -> dict[str, Any]:
    """Of a malformed pod: whose it is, and the reason. The whole pod if its metadata is malformed, too."""
    metadata = pod["metadata"]
    try:
        owners = [{"uid": uid} for uid in _owners(metadata)]
        return {"metadata": {**_names(metadata, METADATA), "ownerReferences": owners}, UNREADABLE: why}
    except Malformed:
        return pod


def _owners(metadata: Mapping[str, Any]) -> list[str]:
    """The UIDs of the first owners. A text that is too long for a UID is none."""
    uids = [owner.get("uid") for owner in _each(metadata, "ownerReferences")]
    return [shown(uid) for uid in uids if isinstance(uid, str) and len(uid) <= MAX_NAME]


def _is_read(condition: Mapping[str, Any]) -> bool:
    kind = condition.get("type")
    return isinstance(kind, str) and kind in CONDITIONS


def _condition(condition: Mapping[str, Any]) -> dict[str, Any]:
    return {**_names(condition, ("type", "status", "reason")), **_messages(condition)}


def _is_spark(container: Mapping[str, Any]) -> bool:
    return container.get("name") == contract.EXECUTOR_CONTAINER


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    limits = mapping(mapping(container.get("resources"), "resources").get("limits"), "limits")
    ports = [
        {**_names(port, ("name",)), "hostPort": number_in(port, "hostPort")}
        for port in _each(container, "ports")
    ]
    return {
        "name": contract.EXECUTOR_CONTAINER,
        "resources": {"limits": _short(limits, ("memory",))},
        "ports": [port for port in ports if port["hostPort"]],
    }


def _container_status(status: Mapping[str, Any]) -> dict[str, Any]:
    state = mapping(status.get("state"), "state")
    return {
        "name": name_in(status, "name"),
        "state": {kind: _state(state, kind) for kind in STATES if state.get(kind) is not None},
    }


def _state(state: Mapping[str, Any], kind: str) -> dict[str, Any]:
    found = mapping(state[kind], kind)
    code = number_in(found, "exitCode")
    result: dict[str, Any] = {**_names(found, ("reason",)), **_messages(found)}
    return result if code is None else {**result, "exitCode": code}


def _each(values: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return objects(values.get(key), key)[:MAX_ENTRIES]


def _names(values: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    return {key: name_in(values, key) for key in keys if values.get(key) is not None}


def _short(values: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    """The texts short enough for a quantity. Longer ones are left out: whoever creates a pod chooses them."""
    found = {key: values.get(key) for key in keys}
    return {key: text for key, text in found.items() if isinstance(text, str) and len(text) <= MAX_QUANTITY}


def _messages(values: Mapping[str, Any]) -> dict[str, str]:
    return {"message": message_in(values, "message")} if values.get("message") is not None else {}
