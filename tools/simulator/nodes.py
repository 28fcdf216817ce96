"""The changes of pods by the control plane and the kubelets; the fields are those of Kubernetes 1.36."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simulator.apiserver import WALL
from sparkgen import contract
from sparkgen.objects import Object

DISRUPTION = "DisruptionTarget"
POOL = "pool"
"""The label of nodes with the name of their pool."""
BY_QUEUE = "TerminationTarget"
"""Kueue's condition for a pod that it is about to delete."""


@dataclass(slots=True)
class Node:
    """A node. `reaches`: it can reach the API server. `runs`: its containers run. `there`: it exists.

    `pool`: the pool of nodes that it belongs to; "" without pools.
    """

    name: str
    pool: str = ""
    reaches: bool = True
    runs: bool = True
    there: bool = True

    @property
    def takes(self) -> bool:
        """Whether a pod can be started on it."""
        return self.reaches and self.runs and self.there


def bound(pod: Object, node: str) -> Object:
    """The pod with a node."""
    return {**pod, "spec": {**pod["spec"], "nodeName": node}}


def demanded(pod: Object) -> frozenset[str] | None:
    """The names of the nodes that a pod requires; None for any node. Preferences are ignored."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return None
    rules = [rule for term in required["nodeSelectorTerms"] for part in term.values() for rule in part]
    return frozenset(value for rule in rules for value in rule["values"])


def selects(pod: Object, node: Node) -> bool:
    """Whether the pod's node selector, and its required affinity, allow the node."""
    names, pool = demanded(pod), (pod["spec"].get("nodeSelector") or {}).get(POOL, node.pool)
    return (names is None or node.name in names) and pool == node.pool


def memory_limit(pod: Object) -> int:
    """The memory limit of the pod's Spark container in MiB; its request, if it has one, is the same."""
    resources = pod["spec"]["containers"][0]["resources"]
    amounts = {amounts["memory"] for amounts in resources.values() if "memory" in amounts}
    (limit,) = amounts
    return int(limit.removesuffix("Mi"))


def unschedulable(pod: Object) -> Object:
    """The pod with the condition that no node has room for it."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient memory.",
    }
    return {**pod, "status": {"phase": "Pending", "conditions": [condition]}}


def gated(pod: Object) -> Object:
    """The pod that a queue holds back: the queue's webhook sets a gate, and the API server the condition."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
    spec = {**pod["spec"], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
    return {**pod, "spec": spec, "status": {"phase": "Pending", "conditions": [condition]}}


def is_gated(pod: Object) -> bool:
    """Whether a queue holds the pod back."""
    return bool(pod["spec"].get("schedulingGates"))


def admitted(pod: Object) -> Object:
    """The pod after its queue has admitted it."""
    spec = {key: value for key, value in pod["spec"].items() if key != "schedulingGates"}
    return {**pod, "spec": spec, "status": {"phase": "Pending"}}


def running(pod: Object, *, ready: bool = True) -> Object:
    """The running pod; not `ready` if its node cannot reach the control plane."""
    conditions = [_condition("Ready", "True" if ready else "False"), _condition("ContainersReady", "True")]
    state: dict[str, Any] = {"running": {"startedAt": WALL}}
    return {**pod, "status": _status("Running", conditions, state)}


def ended(pod: Object, exit_code: int, reason: str = "") -> Object:
    """The pod after its Spark container has ended."""
    terminated = {"exitCode": exit_code, "reason": reason or ("Error" if exit_code else "Completed")}
    phase = "Failed" if exit_code else "Succeeded"
    old = pod["status"].get("conditions") or ()
    kept = [condition for condition in old if condition["type"] in (DISRUPTION, BY_QUEUE)]
    status = _status(phase, kept, {"terminated": terminated})
    return {**pod, "status": {**pod["status"], **status}}


def without_files(pod: Object) -> Object:
    """The pod whose init container `fetch` could not get the pushed files, so that Spark never ran."""
    message = "r.example/etl@sha256:0 is not in the registry"
    terminated = {"exitCode": contract.BAD_ARTIFACT, "reason": "Error", "message": message}
    fetch = {"name": contract.FETCH_CONTAINER, "state": {"terminated": terminated}}
    spark = {"name": contract.EXECUTOR_CONTAINER, "state": {"waiting": {"reason": "PodInitializing"}}}
    status = {"phase": "Failed", "initContainerStatuses": [fetch], "containerStatuses": [spark]}
    return {**pod, "status": {**pod["status"], **status}}


def evicted(pod: Object) -> Object:
    """The pod after its node has evicted it."""
    conditions = [_condition("DisruptionTarget", "True", "TerminationByKubelet")]
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}
    return {**pod, "status": {**status, "conditions": conditions}}


def disrupted(pod: Object, reason: str, kind: str = DISRUPTION) -> Object:
    """The pod with a condition of this kind, which says why it is about to be deleted."""
    conditions = [*(pod["status"].get("conditions") or ()), _condition(kind, "True", reason)]
    return {**pod, "status": {**pod["status"], "conditions": conditions}}


def failed_by_gc(pod: Object) -> Object:
    """The pod of a removed node, as PodGC changes it before it deletes it."""
    return {**(lost := disrupted(pod, "DeletionByPodGC")), "status": {**lost["status"], "phase": "Failed"}}


def _status(phase: str, conditions: list[dict[str, str]], state: dict[str, Any]) -> dict[str, Any]:
    container = {"name": contract.EXECUTOR_CONTAINER, "state": state}
    return {"phase": phase, "conditions": conditions, "containerStatuses": [container]}


def _condition(kind: str, value: str, reason: str = "") -> dict[str, str]:
    return {"type": kind, "status": value, "reason": reason}
