"""What the scheduler of Kubernetes does with gangs: its plugin GangScheduling, as 1.36 has it. Pure.

A member is tried only when as many members are there as its group needs, and gets a node only together with
as many others as its group still lacks. It counts the pods that are there, not those that ever were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sparkgen.objects import Object


def group_of(pod: Object) -> str:
    """The name of the PodGroup that a pod is a member of; "" for none."""
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName", ""))


def min_count(group: Mapping[str, Any]) -> int:
    """How many members a PodGroup needs together."""
    return int(group["spec"]["schedulingPolicy"]["gang"]["minCount"])


def tried_with(pod: Object, pods: Iterable[Object], groups: Mapping[str, Object]) -> list[Object]:
    """The pods that get a node together with this one, itself first; none where it is not tried yet.

    `pods`: all that are there; `groups`: the PodGroups, by name.
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
"""Phases of pods that the scheduler knows: those that have ended are none of its members."""
