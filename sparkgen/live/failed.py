"""Why a run has failed: from its Job, its driver's pod and log, and the allocator's Events and log. Pure."""

from __future__ import annotations

from dataclasses import replace

from sparkgen import contract
from sparkgen.codes import Hindrance
from sparkgen.killing import KILLED, REPLACED_BY
from sparkgen.live import allocatorlog
from sparkgen.live.driverlog import failure_in
from sparkgen.live.facts import RunFacts, fill
from sparkgen.live.hindrances import in_event, stopped
from sparkgen.live.pending import init_ended, never_made
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import (
    annotation_of,
    by_spark,
    conditions,
    container,
    containers,
    status_of,
    terminated,
)
from sparkgen.objects import ObjectView
from sparkgen.runtime.allocator.observe.causes import DISRUPTIONS, EXIT_CODES, POD_REASONS


def went_wrong(facts: RunFacts) -> bool:
    """Whether a container of the driver's pod has failed, now or before its last restart."""
    pod = facts.run.driver
    if pod is None:
        return False
    ends = [
        terminated(status) or (status.get("lastState") or {}).get("terminated") or {}
        for status in containers(pod)
    ]
    return any(end.get("exitCode") for end in ends) or status_of(pod).get("phase") == "Failed"


def why_failed(facts: RunFacts) -> Reason:
    """Returns what ended the run, or its last attempt."""
    pod = facts.run.driver
    job = conditions(facts.run.workload).get("Failed", {}) if facts.run.kind == "Job" else {}
    if killed := annotation_of(facts.run.workload, KILLED):
        step = (
            ""
            if contract.is_session(facts.run.workload)
            else f"run it again: sparkgen run {facts.run.application} -n {facts.run.namespace}"
        )
        if newer := annotation_of(facts.run.workload, REPLACED_BY):
            return Reason(
                "replaced", f"the run {newer} replaced it at {killed} (spec.concurrencyPolicy)", step
            )
        return Reason("killed", f"sparkgen kill ended it at {killed}", step)
    if job.get("reason") == "DeadlineExceeded":
        step = "raise spec.activeDeadlineSeconds, or find out what takes so long: sparkgen logs NAME"
        return Reason("deadline", "it exceeded activeDeadlineSeconds", fill(step, facts))
    if pod is None:
        return never_made(facts) or _vanished(job)
    if contract.is_session(pod):
        return _disrupted(pod) or _allocator_failed(pod) or _vanished(job)
    return (
        _init_failed(pod)
        or _disrupted(pod)
        or _out_of_memory(pod)
        or _driver_failed(facts, pod)
        or _vanished(job)
    )


def _vanished(job: ObjectView) -> Reason:
    said = detail(str(job.get("message") or ""))
    cause = f"its driver's pod and log are gone{f' ({said})' if said else ''}"
    return Reason("gone", cause, "look for the log in your cluster's log collection, or run it again")


def _init_failed(pod: ObjectView) -> Reason | None:
    """Finds an init container, or a sidecar, that failed in a pod whose driver has not ended."""
    for status in status_of(pod).get("initContainerStatuses") or ():
        end = terminated(status)
        if end.get("exitCode") and not terminated(container(pod)):
            return init_ended(str(status["name"]), end)
    return None


def _allocator_failed(pod: ObjectView) -> Reason | None:
    """Returns what ended the allocator of a session, now or before its last restart."""
    end = _end_of_driver(pod)
    return init_ended(contract.ALLOCATOR_CONTAINER, end) if end.get("exitCode") else None


def _disrupted(pod: ObjectView) -> Reason | None:
    """Finds a pod that the node, the scheduler or a drain has ended."""
    reason = str(status_of(pod).get("reason") or "")
    disruption = conditions(pod).get("DisruptionTarget", {})
    words = POD_REASONS.get(reason) or DISRUPTIONS.get(str(disruption.get("reason") or ""))
    if words is None:
        return None
    said = detail(str(status_of(pod).get("message") or disruption.get("message") or ""))
    step = "run it again, or set spec.restartPolicy.onFailureRetries to have it retried"
    return Reason("evicted", f"the driver {words[1]}{f' ({said})' if said else ''}", step)


def _out_of_memory(pod: ObjectView) -> Reason | None:
    end = _end_of_driver(pod)
    if end.get("reason") != "OOMKilled":
        return None
    limit = _memory_limit(pod)
    bound = f"its container's limit is {limit}" if limit else "its node had no memory left"
    step = "raise spec.driver.memoryOverhead (Python, native memory) or spec.driver.memory (Java's heap)"
    return Reason("driver-memory", f"the driver was killed because it ran out of memory ({bound})", step)


def _driver_failed(facts: RunFacts, pod: ObjectView) -> Reason | None:
    """Returns why the driver failed, from the allocator or the driver's log, or else its exit code."""
    if failure := _told_by_allocator(facts):
        stop_reason = stopped(failure)
        unknown = "its code is unknown: the runtime image is older than this sparkgen"
        return stop_reason if failure.code else replace(stop_reason, next_step=unknown)
    end = _end_of_driver(pod)
    if not end:
        return None
    if reason := failure_in(facts.driver_log or str(end.get("message") or "")):
        step = reason.next_step or "read its log: sparkgen logs NAME"
        if by_spark(facts.run):
            step = step.replace(" --allocator", "")
        return Reason(reason.code, reason.cause, fill(step, facts))
    code = int(end.get("exitCode") or 0)
    meaning = f" ({EXIT_CODES[code]})" if code in EXIT_CODES and code < 100 else ""
    step = fill("read its log: sparkgen logs NAME", facts)
    return Reason("exit", f"the driver's program ended with code {code}{meaning}", step)


def _told_by_allocator(facts: RunFacts) -> Hindrance | None:
    """Returns why the allocator has ended the application, from its Event or its log; None if it has not."""
    for event in reversed(facts.events):
        if event.get("reason") == "ApplicationFailed":
            return in_event(event)
    return allocatorlog.failure(facts.allocator_log)


def _end_of_driver(pod: ObjectView) -> ObjectView:
    """Returns how the pod's main container ended, now or before its last restart; empty if it never did."""
    status = container(pod)
    end: ObjectView = terminated(status) or (status.get("lastState") or {}).get("terminated") or {}
    return end


def _memory_limit(pod: ObjectView) -> str:
    for one in pod["spec"].get("containers") or ():
        if one.get("name") == contract.DRIVER_CONTAINER:
            return str(((one.get("resources") or {}).get("limits") or {}).get("memory") or "")
    return ""
