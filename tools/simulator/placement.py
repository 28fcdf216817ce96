"""Gangs in the scheduler of Kubernetes: its plugin GangScheduling, as of 1.36. Pure.

A member is tried only if at least as many members exist as its group needs, and it gets a node only together
with as many others as its group still lacks. Only existing pods count, not earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sparkgen.objects import Object


def group_of(pod: Object) -> str:
    """The name of a pod's PodGroup; "" if it is in none."""
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName", ""))


def min_count(group: Mapping[str, Any]) -> int:
    """The number of members that a PodGroup needs together."""
    return int(group["spec"]["schedulingPolicy"]["gang"]["minCount"])


def tried_with(pod: Object, pods: Iterable[Object], groups: Mapping[str, Object]) -> list[Object]:
    """The pods that get a node together with this one, itself first; [] if it is not tried yet.

    `pods`: all existing pods; `groups`: the PodGroups, by name.
    """
    name = group_of(pod)
    if not name:
        return [pod]
    group = groups.get(name)
    members = [one for one in pods if group_of(one) == name and one["status"]["phase"] in ALIVE]
    if group is None or len(members) < min_count(group):
        return []
    waiting = [one for one in members if not one["spec"].get("nodeName")]
    lacking = min_count(group) - (len(members) - len(waiting))
    uid = pod["metadata"]["uid"]
    return [pod, *(one for one in waiting if one["metadata"]["uid"] != uid)][: max(lacking, 1)]


ALIVE = ("Pending", "Running")
"""The phases of pods that count as members: pods that have ended do not."""
