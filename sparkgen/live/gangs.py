"""A run whose pods are placed as a group: its state in the batch scheduler, if that can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sparkgen import contract
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import UNREAD, Run, annotation_of, conditions, label_of, status_of
from sparkgen.objects import ObjectView

_SCHEDULED = ("PodGroupInitiallyScheduled", "PodGroupScheduled")
"""The names of the condition of Kubernetes' own groups: since 1.37, and before."""
_BEGUN = ("Running", "Completed")
"""Phases of PodGroups that no longer wait."""


@dataclass(frozen=True, slots=True)
class Gang:
    """A run's group of pods.

    `queue`, `phase` and `why` (the scheduler's message): "" if they are unknown. `size`: the number of pods
    that are placed together, 0 if it is unknown.
    """

    scheduler: Literal["volcano", "yunikorn", "kube-scheduler"]
    queue: str = ""
    phase: str = ""
    why: str = ""
    size: int = 0


def gang(run: Run, group: Callable[[tuple[str, ...]], Gang]) -> Gang | None:
    """Returns the group that a run's driver or executors belong to; None if they belong to no group.

    `group`: reads one, as `read` does; several runs may name the same.
    """
    if run.driver is None:
        return None
    if name := annotation_of(run.driver, contract.ANNOTATION_POD_GROUP):
        return group((run.namespace, name, contract.POD_GROUPS_OF_VOLCANO))
    if label_of(run.driver, contract.LABEL_YUNIKORN_APPLICATION):
        return Gang("yunikorn", label_of(run.driver, contract.LABEL_YUNIKORN_QUEUE))
    groups = (pod["spec"].get("schedulingGroup") or {} for pod in run.executors)
    own = next((str(group["podGroupName"]) for group in groups if group.get("podGroupName")), "")
    return group((run.namespace, own, *contract.POD_GROUP_VERSIONS)) if own else None


def read(cluster: Cluster, named: tuple[str, ...]) -> Gang:
    """Returns what is known of a group: of a namespace, with a name, in the first version that has it."""
    namespace, name, *versions = named
    return read_as(versions[0], _read(cluster, versions, name, namespace))


def read_as(version: str, group: ObjectView) -> Gang:
    """Returns what a PodGroup of a version says; {} if it cannot be read."""
    return _volcano(group) if version == contract.POD_GROUPS_OF_VOLCANO else _own(group)


def _read(cluster: Cluster, versions: Iterable[str], name: str, namespace: str) -> ObjectView:
    """Returns the group with this name, in the first version that has it; {} if it cannot be read."""
    for version in versions:
        try:
            group = cluster.get(version, "PodGroup", name, namespace)
        except ClusterError as error:
            if error.status not in UNREAD:
                raise
            continue
        if group is not None:
            return group
    return {}


def _volcano(group: ObjectView) -> Gang:
    said = [one for one in status_of(group).get("conditions") or () if one.get("type") == "Unschedulable"]
    why = str(said[-1].get("message") or "") if said else ""
    queue = str((group.get("spec") or {}).get("queue") or "")
    return Gang("volcano", queue, str(status_of(group).get("phase") or ""), why)


def _own(group: ObjectView) -> Gang:
    policy = ((group.get("spec") or {}).get("schedulingPolicy") or {}).get("gang") or {}
    said = (
        str(condition.get("message") or "")
        for condition in status_of(group).get("conditions") or ()
        if condition.get("type") in _SCHEDULED and condition.get("status") == "False"
    )
    placed = bool(conditions(group).keys() & set(_SCHEDULED))
    return Gang(
        "kube-scheduler", "", "Running" if placed else "", next(said, ""), int(policy.get("minCount") or 0)
    )


def driver_waits(group: Gang) -> Reason | None:
    """Returns the reason that the driver waits until its group has room; None if its group does not wait."""
    if group.scheduler == "kube-scheduler" or group.phase in _BEGUN:
        return None
    where = f" in {group.queue}" if group.queue else ""
    if group.scheduler == "yunikorn":
        cause = f"queued{where} until YuniKorn has room for the driver and its first executors"
        return Reason(
            "queued",
            cause,
            "the pod starts when its queue has room; to see why it waits, open YuniKorn's web UI",
        )
    phase = f"; its PodGroup is {group.phase}" if group.phase else ""
    why = f" ({detail(group.why)})" if group.why else ""
    return Reason(
        "queued",
        f"queued{where} until Volcano has room for the driver and its first executors{phase}{why}",
        "the pod starts when its queue has room; to see why it waits: kubectl describe "
        "podgroups.scheduling.volcano.sh",
    )


def executors_wait(group: Gang | None, placed: int) -> Reason | None:
    """Returns the reason that executors wait for each other, or None. `placed`: how many have a node."""
    if group is None or group.scheduler != "kube-scheduler" or group.phase in _BEGUN or placed:
        return None
    size = f"{group.size} executors" if group.size else "the first executors"
    why = f" ({detail(group.why)})" if group.why else ""
    return Reason(
        "gang",
        f"{size} wait until there is room on the nodes for all of them{why}",
        "wait, request less in spec.executor, lower batchSchedulerOptions.minExecutors, or add nodes",
    )
