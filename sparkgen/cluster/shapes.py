"""Puts objects of a cluster into the form that Kubernetes gives them, whatever the server sent.

An API server checks the objects that it stores. The answer of something else, such as a proxy, may have any
form, and a command must not end in an internal error. So this module drops values of the wrong type, by the
name of their field: these names mean the same everywhere in Kubernetes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sparkgen.cluster.routes import is_namespaced
from sparkgen.objects import Object, ObjectView

LEVELS = 64
"""The most levels of an object that are kept: Kubernetes' own types have fewer than 40."""
MOST_OF_PART = 20_000
"""The most room of a part of a shortened object, in units of 64 bytes. A driver's Job takes some 2,000.

An item of a list may take 4 bytes in etcd, and 500 in Python: an object of 1 MiB would take 100 MiB.
"""
_ROOM_OF_MAP = 3
_IDENTITY = (
    *("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "generation"),
    *("ownerReferences", "labels"),
)
"""The metadata that are kept first of an object that takes too much room."""
_OF_EACH = ("name", "uid", "creationTimestamp")
"""The metadata that each object has; those in a namespace also its name."""
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


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


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
    _is_map: (
        *("metadata", "spec", "template", "jobTemplate", "involvedObject"),
        *("projected", "configMap", "valueFrom", "secretKeyRef"),
    ),
    _is_map_of_texts: ("labels", "annotations", "matchLabels", "data", "stringData", "binaryData"),
    _is_list_of_texts: ("args", "command"),
}
_LISTS: Mapping[str, tuple[str, ...]] = {
    "ownerReferences": ("kind", "uid"),
    "managedFields": (),
    "conditions": ("type", "status"),
    "containers": ("name",),
    "initContainers": ("name",),
    "containerStatuses": ("name",),
    "initContainerStatuses": ("name",),
    "ports": (),
    "env": ("name",),
    "volumes": ("name",),
    "sources": (),
    "schedulingGates": ("name",),
}
"""Lists of maps -> the fields that each of these maps must have, as texts."""
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    **{name: fits for fits, names in _NAMES.items() for name in names},
    **dict.fromkeys(_LISTS, _is_list),
}
"""Name of a field -> the check of its type, wherever the field is."""

FREE = frozenset(
    (
        *("labels", "annotations", "matchLabels", "nodeSelector", "selector", "data", "stringData"),
        *("binaryData", "volumeAttributes", "options", "parameters", "limits", "requests", "hard", "used"),
        *("allocatable", "capacity", "overhead"),
    )
)
"""Fields that are maps with keys of the user's choice: a label may be called `env`, or a file `template`."""


@dataclass(slots=True)
class Room:
    """The room that is left, in units of 64 bytes."""

    left: int


def received(
    value: Any, api_version: str, kind: str, room: Room | None = None, *, brief: bool = False
) -> Object | None:
    """Returns the object that an answer has, conforming and completed; None if it has none.

    `brief`: a very large one is not whole (`shortened`). Items of lists do not say their apiVersion and kind.
    """
    if not isinstance(value, dict):
        return None
    room = room or Room(sys.maxsize)
    kept = shortened(value, room) if brief else conforming(value, room)
    metadata = kept.get("metadata", {})
    if not all(metadata.get(key) for key in (*_OF_EACH, *(("namespace",) if is_namespaced(kind) else ()))):
        return None
    return completed({**kept, "apiVersion": api_version, "kind": kind})


def conforming(item: Object, room: Room | None = None) -> Object:
    """Returns the object without values of a wrong type, and without what is deeper than LEVELS.

    It takes its size from `room`, and is not whole if nothing is left there.
    """
    kept: Object = _map(item, LEVELS, room or Room(sys.maxsize))
    if not isinstance(kept.get("status", {}), dict):
        del kept["status"]
    return kept


def shortened(item: Object, room: Room) -> Object:
    """Returns the same, and no more than MOST_OF_PART of each field of the object, and of its annotations."""
    metadata = _map_in(item.get("metadata"))
    first = {key: metadata[key] for key in _IDENTITY if key in metadata}
    others = {key: one for key, one in metadata.items() if key not in first}
    rest = ({key: one} for key, one in item.items() if key != "metadata")
    kept: Object = {"metadata": {}}
    for part in ({"metadata": first}, {"metadata": others}, *rest):
        most = min(MOST_OF_PART, room.left)
        own = Room(most)
        found = conforming(part, own)
        kept["metadata"] |= found.pop("metadata", {})
        kept |= found
        room.left -= most - own.left
    return kept


def completed(item: ObjectView) -> Object:
    """Returns the object with all fields that its kind always has; missing ones are empty.

    The result shares with `item` what it does not complete.
    """
    whole: Object = dict(item)
    if whole.get("kind") == "CronJob":
        job = _own(_own(whole, "spec"), "jobTemplate")
        job.setdefault("metadata", {})
        _complete_template(job)
    elif whole.get("kind") in _WITH_TEMPLATE:
        _complete_template(whole)
    elif whole.get("kind") in ("Pod", "PodGroup"):
        whole.setdefault("spec", {})
    elif whole.get("kind") == "Event":
        whole.setdefault("involvedObject", {})
    return whole


def _complete_template(job: Object) -> None:
    template = _own(_own(job, "spec"), "template")
    template.setdefault("metadata", {})
    template.setdefault("spec", {})


def _own(parent: Object, key: str) -> Object:
    """Replaces a map of `parent` by a copy that may be changed, and returns it."""
    own: Object = dict(parent.get(key) or {})
    parent[key] = own
    return own


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


def _map(value: Mapping[str, Any], levels: int, room: Room, *, free: bool = False) -> dict[str, Any]:
    """Returns the valid values of a map; `levels`: how many there may be, with that of the map.

    `free`: the map has any keys; one with keys of Kubernetes may be inside, as in a selector.
    """
    kept: dict[str, Any] = {}
    room.left -= _ROOM_OF_MAP
    for key, one in value.items() if levels else ():
        if room.left <= 0:
            break
        if not free and key in _TYPES and not _TYPES[key](one):
            continue
        if key in FREE and isinstance(one, dict):
            kept[key] = _map(one, levels - 1, room, free=True)
        elif key in _LISTS and not free:
            kept[key] = _list(key, one, levels - 1, room)
        else:
            kept[key] = _any(one, levels - 1, room)
    return kept


def _list(key: str, items: list[Any], levels: int, room: Room) -> list[Any]:
    found = [_map(one, levels, room) for one in items if isinstance(one, dict) and room.left > 0]
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


def _any(value: Any, levels: int, room: Room) -> Any:
    if isinstance(value, dict):
        return _map(value, levels, room)
    room.left -= 1
    if isinstance(value, list):
        return [_any(one, levels - 1, room) for one in value if room.left > 0] if levels else []
    return value
