"""Puts objects of a cluster into the form that Kubernetes gives them, whatever the server sent.

An API server checks the objects that it stores. The answer of something else, such as a proxy, may have any
form, and a command must not end in an internal error. So this module drops values of the wrong type, by the
name of their field: these names mean the same everywhere in Kubernetes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sparkgen.objects import Object, ObjectView

LEVELS = 64
"""The most levels of an object that are kept: Kubernetes' own types have fewer than 40."""
_WITH_TEMPLATE = ("Job", "Deployment")
_STATES = ("state", "lastState")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_map(value: Any) -> bool:
    return isinstance(value, dict)


def _is_map_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())


_NAMES = {
    _is_text: (
        *("name", "namespace", "uid", "kind", "apiVersion", "phase", "generateName", "reason", "message"),
        *("nodeName", "resourceVersion", "schedule", "timeZone", "type", "continue"),
    ),
    _is_number: ("exitCode", "restartCount", "containerPort", "count", "backoffLimit"),
    _is_time: (
        *("creationTimestamp", "deletionTimestamp", "lastTimestamp", "firstTimestamp", "eventTime"),
        *("startTime", "completionTime", "startedAt", "finishedAt"),
        *("lastTransitionTime", "lastScheduleTime", "lastSuccessfulTime"),
    ),
    _is_map: ("metadata", "spec", "template", "jobTemplate", "involvedObject"),
    _is_map_of_texts: ("labels", "annotations", "matchLabels"),
}
_TYPES: Mapping[str, Callable[[Any], bool]] = {name: fits for fits, names in _NAMES.items() for name in names}
"""Name of a field -> the check of its type, wherever the field is."""

_LISTS: Mapping[str, tuple[str, ...]] = {
    "ownerReferences": ("kind", "uid"),
    "conditions": ("type", "status"),
    "containers": ("name",),
    "initContainers": ("name",),
    "containerStatuses": ("name",),
    "initContainerStatuses": ("name",),
    "ports": (),
    "env": ("name",),
    "volumes": ("name",),
}
"""Lists of maps -> the fields that each of these maps must have, as texts."""


def conforming(item: Object) -> Object:
    """Returns the object without values of a wrong type, and without what is deeper than LEVELS."""
    kept: Object = _map(item, LEVELS)
    if not isinstance(kept.get("status", {}), dict):
        del kept["status"]
    return kept


def completed(item: ObjectView) -> Object:
    """Returns a copy of the object with all fields that its kind always has; missing ones are empty."""
    whole = copy.deepcopy(dict(item))
    for template in _templates(whole):
        template.setdefault("metadata", {})
        template.setdefault("spec", {})
    if whole.get("kind") == "Pod":
        whole.setdefault("spec", {})
    if whole.get("kind") == "Event":
        whole.setdefault("involvedObject", {})
    return whole


def has_name(item: Any) -> bool:
    """Whether a value is an object with a name: others can be neither shown nor requested."""
    metadata = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and bool(metadata["name"])


def data_keys(metadata_only: ObjectView) -> frozenset[str]:
    """Returns the keys of a Secret or ConfigMap, from its record of managed fields; none without a record.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
    """
    records = (metadata_only.get("metadata") or {}).get("managedFields")
    fields = [_map_in(_map_in(one).get("fieldsV1")) for one in (records if isinstance(records, list) else ())]
    parts = [_map_in(one.get(part)) for one in fields for part in ("f:data", "f:stringData", "f:binaryData")]
    return frozenset(name.removeprefix("f:") for part in parts for name in part if name.startswith("f:"))


def _map_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _templates(item: Object) -> list[Object]:
    if item.get("kind") == "CronJob":
        job = item.setdefault("spec", {}).setdefault("jobTemplate", {})
        return [job, job.setdefault("spec", {}).setdefault("template", {})]
    if item.get("kind") in _WITH_TEMPLATE:
        return [item.setdefault("spec", {}).setdefault("template", {})]
    return []


def _map(value: Mapping[str, Any], levels: int) -> dict[str, Any]:
    """Returns the valid values of a map; `levels`: how many there may be, with that of the map."""
    kept: dict[str, Any] = {}
    if not levels:
        return kept
    for key, one in value.items():
        if key in _LISTS:
            if isinstance(one, list):
                kept[key] = _list(key, one, levels - 1)
        elif key not in _TYPES or _TYPES[key](one):
            kept[key] = _any(one, levels - 1)
    return kept


def _list(key: str, items: list[Any], levels: int) -> list[Any]:
    found = [_map(one, levels) for one in items if isinstance(one, dict)]
    if key.endswith("Statuses"):
        found = [_status(one) for one in found]
    return [one for one in found if all(isinstance(one.get(name), str) for name in _LISTS[key])]


def _status(status: dict[str, Any]) -> dict[str, Any]:
    """Returns a container's status with valid states only: maps, and an exitCode in `terminated`."""
    for key in _STATES:
        if key in status:
            states = status[key] if isinstance(status[key], dict) else {}
            status[key] = {
                name: state
                for name, state in states.items()
                if isinstance(state, dict) and (name != "terminated" or "exitCode" in state)
            }
    return status


def _any(value: Any, levels: int) -> Any:
    if isinstance(value, dict):
        return _map(value, levels)
    if isinstance(value, list):
        return [_any(one, levels - 1) for one in value] if levels else []
    return value
