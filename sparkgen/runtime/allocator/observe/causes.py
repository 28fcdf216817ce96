"""Why an executor is gone, or does not start: read from its pod, by the tables below. Pure.

The Spark container decides, never a sidecar. The pod's own reason and conditions come before it, because a
container that is ended for an eviction or a preemption only shows an exit code. Sources: Kubernetes'
`pkg/apis/core/types.go` (DisruptionTarget), `pkg/kubelet/events`, `pkg/kubelet/images/types.go`,
`pkg/kubelet/kubelet_pods.go`; Spark's `ExecutorExitCode` and `SparkExitCode`. The pods of the tests were
recorded from a Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.codes import BAD_CONTAINER, IMAGES, Code, unmarked
from sparkgen.runtime.allocator.values.observed import Cause, Loss, Waiting

Pod = Mapping[str, Any]

MAX_DETAIL = 400
"""The most characters of a message from the cluster that are passed on."""

DISRUPTIONS: Mapping[str, tuple[Cause, str]] = {
    "PreemptionByScheduler": (Cause.PREEMPTED, "was preempted by a pod of higher priority"),
    "DeletionByTaintManager": (Cause.EVICTED, "was evicted because its node got a NoExecute taint"),
    "EvictionByEvictionAPI": (
        Cause.EVICTED,
        "was evicted through the API, for example by a drain of its node",
    ),
    "DeletionByPodGC": (Cause.NODE_LOST, "was on a node that no longer exists"),
    "TerminationByKubelet": (Cause.EVICTED, "was terminated by its node"),
}
"""Reasons of the condition DisruptionTarget, none of which is the application's fault."""

BY_QUEUE = "TerminationTarget"
"""Kueue's condition of a pod that it is about to delete (`Stop` in its pod_controller.go)."""
OF_QUEUES: Mapping[str, tuple[Cause, str]] = {
    "WorkloadEvictedDueToPreempted": (Cause.PREEMPTED, "was preempted by another workload of its queue"),
}
"""The reasons of that condition that are not evictions."""

POD_REASONS: Mapping[str, tuple[Cause, str]] = {
    "Evicted": (Cause.EVICTED, "was evicted by its node"),
    "NodeLost": (Cause.NODE_LOST, "was on a node that stopped responding"),
    "NodeShutdown": (Cause.EVICTED, "was terminated because its node is shutting down"),
    "Shutdown": (Cause.EVICTED, "was terminated because its node is shutting down"),
    "Terminated": (Cause.EVICTED, "was terminated because its node is shutting down"),
    "Preempting": (Cause.PREEMPTED, "was preempted by a critical pod on its node"),
}
"""PodStatus.reason of pods that ran, or might have run."""

OWN_LIMIT = ("exceeds the limit", "exceeds the total limit", "exceeded its local ephemeral storage limit")
"""The kubelet's words for a pod that used more disk than allowed: the application's fault, not the node's."""

DEADLINE = "DeadlineExceeded"

EXIT_CODES: Mapping[int, str] = {
    1: "see its log for the error",
    50: "an uncaught exception",
    51: "an uncaught exception, and another one while logging it",
    52: "the Java heap was full: raise spark.executor.memory",
    53: "could not create its local directory",
    54: "could not reach its external block store",
    55: "could not create the directory of its external block store",
    56: "could not send heartbeats to the driver",
    57: "ended by the task reaper: a killed task did not stop",
    58: "could not register its block manager with the driver again",
    126: "its command is not executable",
    127: "its command was not found; check that the image has Java",
    134: "the JVM aborted (SIGABRT); see its log",
    137: "SIGKILL: its node ran out of memory, or someone killed it",
    139: "the JVM crashed (SIGSEGV); see its log",
    143: "SIGTERM: it was asked to stop",
}

NOBODYS_FAULT = frozenset({0, 143})
"""Exit codes that are no failure of the application: a normal end, and the end of a node's containers."""

NOBODY_SAW = frozenset({"ContainerStatusUnknown", "Unknown"})
"""Reasons of a container whose end was not observed: the kubelet's (exit code 137), and containerd's after
its machine restarted (exit code 255: `unknownExitReason` in its CRI server)."""

NEVER_STARTED = frozenset({"StartError", "ContainerCannotRun"})
"""The runtime's reasons for a container whose process never started (exit codes 127 and 128)."""

PERMANENT = IMAGES | BAD_CONTAINER - {Code.RUN_CONTAINER_ERROR}
"""Reasons of a waiting container that do not pass with time, unless its message has words of `MAY_PASS`."""

MAY_PASS = (
    *(
        "timeout",
        "timed out",
        "deadline exceeded",
        "refused",
        "reset by peer",
        "unreachable",
        "unexpected eof",
    ),
    *("toomanyrequests", "too many requests", "server misbehaving", "temporary failure", "try again"),
    *("500 internal", "502 bad", "503 service", "504 gateway", "qps exceeded", "no space left"),
)
"""Words in the message of a failed pull that blame the network, the registry or the node, not the image."""


def loss_of(pod: Pod) -> Loss | None:
    """How the executor in this pod ended; None if it may still run.

    It has ended when its Spark container has, whatever its sidecars do, or when its node is lost.
    """
    status = _status(pod)
    terminated = _state(pod).get("terminated")
    if status.get("phase") not in ("Succeeded", "Failed"):
        if _node_is_lost(pod):
            return _lost_node(pod)
        if terminated is None:
            return None
    disruption = _disruption(pod)
    if disruption is not None:
        return disruption
    reason = status.get("reason") or ""
    if reason in POD_REASONS:
        return _pod_reason(pod, reason)
    if terminated is None or terminated.get("reason") in NEVER_STARTED:
        return _never_ran(pod, terminated)
    return _exited(pod, terminated)


def departure_of(pod: Pod) -> Loss:
    """Why a pod no longer exists, given its last state: how it ended, or what was about to end it."""
    loss = loss_of(pod) or _disruption(pod)
    if loss is None and _node_is_silent(pod):
        return _lost_node(pod)
    return loss or Loss(Cause.DELETED, f"{_who(pod)} was deleted")


def waiting_of(pod: Pod) -> Waiting | None:
    """Why a pending pod does not run; None if it is not pending, or if no reason is known."""
    status = _status(pod)
    if status.get("phase", "Pending") != "Pending":
        return None
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    states = [(entry, (entry.get("state") or {}).get("waiting") or {}) for entry in containers]
    stuck = [(entry, state) for entry, state in states if state.get("message")]
    for entry, state in stuck or states:
        if state.get("reason") not in (None, "PodInitializing"):
            return _waiting_container(entry["name"], state)
    scheduled = _condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("status") == "False":
        return Waiting(scheduled.get("reason") or "Unschedulable", _detail(scheduled.get("message")))
    return Waiting("PodInitializing", "") if states else None


def _waiting_container(container: str, state: Mapping[str, Any]) -> Waiting:
    reason, message = state["reason"], state.get("message") or ""
    passes = any(word in message.lower() for word in MAY_PASS)
    who = "" if container == contract.EXECUTOR_CONTAINER else f"container {container}: "
    return Waiting(reason, f"{who}{_detail(message)}" if message else "", reason in PERMANENT and not passes)


def _disruption(pod: Pod) -> Loss | None:
    taken = _condition(pod, BY_QUEUE)
    if taken is not None and taken.get("status") == "True":
        return _taken_by_queue(pod, taken)
    condition = _condition(pod, "DisruptionTarget")
    if condition is None or condition.get("status") != "True":
        return None
    if _node_is_lost(pod):
        return _lost_node(pod)
    reason = condition.get("reason") or ""
    cause, words = DISRUPTIONS.get(reason, (Cause.EVICTED, f"was disrupted ({reason})"))
    own = POD_REASONS.get(_status(pod).get("reason") or "")
    if reason == "TerminationByKubelet" and own is not None:
        cause, words = own
    message = _status(pod).get("message") or condition.get("message")
    return Loss(cause, _sentence(pod, words, message), exit_code=_exit_code(pod))


def _taken_by_queue(pod: Pod, condition: Mapping[str, Any]) -> Loss:
    reason = condition.get("reason") or ""
    cause, words = OF_QUEUES.get(reason, (Cause.EVICTED, f"was evicted by its queue ({reason})"))
    return Loss(cause, _sentence(pod, words, condition.get("message")), exit_code=_exit_code(pod))


def _pod_reason(pod: Pod, reason: str) -> Loss:
    cause, words = POD_REASONS[reason]
    message = _status(pod).get("message") or ""
    own = reason == "Evicted" and any(text in message for text in OWN_LIMIT)
    return Loss(cause, _sentence(pod, words, message), by_application=own, exit_code=_exit_code(pod))


def _exited(pod: Pod, terminated: Mapping[str, Any]) -> Loss:
    code = int(terminated.get("exitCode") or 0)
    if terminated.get("reason") == "OOMKilled":
        limit = _memory_limit(pod)
        bound = (
            f"limit {limit}: raise spark.executor.memoryOverhead"
            if limit
            else "its container has no memory limit"
        )
        return Loss(Cause.OOM, f"{_who(pod)} was killed: out of memory ({bound})", True, code)
    if _status(pod).get("reason") == DEADLINE:
        return Loss(Cause.EXITED, _sentence(pod, "ran longer than its activeDeadlineSeconds"), True, code)
    if pod["metadata"].get("deletionTimestamp"):
        return Loss(Cause.DELETED, f"{_who(pod)} was deleted (exit code {code})", exit_code=code)
    if terminated.get("reason") in NOBODY_SAW:
        return Loss(Cause.UNKNOWN, f"{_who(pod)} is gone, and its node reports no reason", exit_code=code)
    if code == contract.NO_SHUFFLE_SERVICE:
        words = "did not start because its node is unusable"
        return Loss(Cause.FAILED_START, _sentence(pod, words, terminated.get("message")), exit_code=code)
    meaning = f" ({EXIT_CODES[code]})" if code in EXIT_CODES else ""
    words = f"exited with code {code}{meaning}" if code else "exited with code 0, unexpectedly"
    return Loss(
        Cause.EXITED, _sentence(pod, words, terminated.get("message")), code not in NOBODYS_FAULT, code
    )


def _never_ran(pod: Pod, terminated: Mapping[str, Any] | None) -> Loss:
    """A pod that ended before its Spark container ran: refused by its node, or ended by an init container."""
    status = _status(pod)
    if terminated is None and pod["metadata"].get("deletionTimestamp"):
        return Loss(Cause.DELETED, f"{_who(pod)} was deleted before it ran")
    code = int(terminated.get("exitCode") or 0) if terminated else None
    for entry in status.get("initContainerStatuses") or ():
        ended = (entry.get("state") or {}).get("terminated") or {}
        if (entry["name"], ended.get("exitCode")) == (contract.FETCH_CONTAINER, contract.BAD_ARTIFACT):
            return _without_artifact(pod, ended)
        if ended.get("exitCode"):
            words = f"did not start: its init container {entry['name']} exited with code {ended['exitCode']}"
            return Loss(Cause.FAILED_START, _sentence(pod, words, ended.get("message")))
    message = (terminated or {}).get("message") or status.get("message")
    reason = (terminated or {}).get("reason") or status.get("reason")
    words = f"did not start ({reason})" if reason else "ended, and its pod gives no reason"
    cause = Cause.FAILED_START if reason else Cause.UNKNOWN
    return Loss(cause, _sentence(pod, words, message), exit_code=code)


def _without_artifact(pod: Pod, ended: Mapping[str, Any]) -> Loss:
    """The loss of an executor whose files are unavailable: another executor would end in the same way."""
    _, text = unmarked(ended.get("message") or "")
    reason = text.partition("\n")[0]
    sentence = _sentence(pod, "did not start because its files are unavailable", reason)
    return Loss(Cause.FAILED_START, sentence, True, contract.BAD_ARTIFACT)


def _node_is_lost(pod: Pod) -> bool:
    """Whether the pod is being deleted on a node that does not respond: nobody will see its containers end.

    Until it is deleted, the node may come back, and the driver may still reach the executor.
    """
    return bool(pod["metadata"].get("deletionTimestamp")) and _node_is_silent(pod)


def _node_is_silent(pod: Pod) -> bool:
    """Whether this pod's node does not report to the control plane.

    The node controller sets `Ready` to False on the pods of a silent node, and changes nothing else: a
    kubelet would have changed `ContainersReady`, too (`MarkPodsNotReady` in pkg/controller/util/node).
    """
    status = _status(pod)
    if status.get("phase") != "Running":
        return False
    ready, containers = _condition(pod, "Ready"), _condition(pod, "ContainersReady")
    taken = (
        ready is not None
        and containers is not None
        and (ready.get("status"), containers.get("status")) == ("False", "True")
        and not (pod["spec"].get("readinessGates") or ())
    )
    return status.get("reason") == "NodeLost" or taken


def _lost_node(pod: Pod) -> Loss:
    node = pod["spec"].get("nodeName") or ""
    return Loss(Cause.NODE_LOST, f"{_who(pod)} is lost: its node {node} stopped responding")


def _status(pod: Pod) -> Mapping[str, Any]:
    status: Mapping[str, Any] = pod.get("status") or {}
    return status


def _state(pod: Pod) -> Mapping[str, Any]:
    """The state of the Spark container: waiting, running or terminated; empty if it has none yet."""
    for entry in _status(pod).get("containerStatuses") or ():
        if entry.get("name") == contract.EXECUTOR_CONTAINER:
            state: Mapping[str, Any] = entry.get("state") or {}
            return state
    return {}


def _exit_code(pod: Pod) -> int | None:
    terminated = _state(pod).get("terminated")
    return None if terminated is None else terminated.get("exitCode")


def _condition(pod: Pod, kind: str) -> Mapping[str, Any] | None:
    for condition in _status(pod).get("conditions") or ():
        if condition.get("type") == kind:
            found: Mapping[str, Any] = condition
            return found
    return None


def _memory_limit(pod: Pod) -> str:
    for container in pod["spec"].get("containers") or ():
        if container.get("name") == contract.EXECUTOR_CONTAINER:
            return str(((container.get("resources") or {}).get("limits") or {}).get("memory") or "")
    return ""


def _who(pod: Pod) -> str:
    labels = pod["metadata"].get("labels") or {}
    id_ = labels.get(contract.LABEL_EXECUTOR_ID)
    return f"executor {id_}" if id_ else f"pod {pod['metadata'].get('name')}"


def _sentence(pod: Pod, words: str, message: str | None = None) -> str:
    node = pod["spec"].get("nodeName")
    where = f" (on {node})" if node else ""
    detail = _detail(message)
    return f"{_who(pod)}{where} {words}{': ' + detail if detail else ''}"


def _detail(message: str | None) -> str:
    text = " ".join((message or "").split()).rstrip(".")
    if len(text) <= MAX_DETAIL:
        return text
    half = MAX_DETAIL // 2  # errors wrap each other: what and why are at the two ends
    return f"{text[:half].rstrip()} … {text[-half:].lstrip()}"
