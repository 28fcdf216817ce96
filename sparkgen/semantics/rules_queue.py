"""Queues and gangs: settings that do not have the effect that they seem to have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen import contract
from sparkgen.model.batch import batch_scheduler
from sparkgen.model.build import executors_of
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import listed

_LOCAL_QUEUE = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_OPTIONS = "batchSchedulerOptions"
_READ_BY = {
    "queue": ("kueue", "volcano", "yunikorn"),
    "executorPriorityClassName": ("kueue", "yunikorn", "kube-scheduler"),
    "resources": ("volcano",),
}
"""Option -> the schedulers that read it; without the options that all of them read."""
UNSCHEDULABLE = 100
"""The default of spec.allocation.maxUnschedulablePods."""


@rule("SG304", WARNING)
def queues(facts: DocumentFacts) -> Iterator[Finding]:
    """Settings of a queue that nothing reads, and executors that would not wait in the driver's queue."""
    scheduler = facts.get("batchScheduler")
    options = facts.get(_OPTIONS) or {}
    if options and scheduler is None:
        yield about_key(
            facts.path(_OPTIONS),
            "has no effect without `batchScheduler`, so nothing waits in a queue",
            "add `batchScheduler: kueue`, or delete it",
        )
    for option in _READ_BY.keys() & options.keys():
        if scheduler is not None and scheduler not in _READ_BY[option]:
            yield about_key(
                facts.path(_OPTIONS, option),
                f"`{scheduler}` does not read it",
                f"delete it: it is for {listed([f'`{one}`' for one in _READ_BY[option]])}",
            )
    yield from _kueue(facts, queued=scheduler == "kueue")


def _kueue(facts: DocumentFacts, *, queued: bool) -> Iterator[Finding]:
    if contract.LABEL_QUEUE in (facts.value["metadata"].get("labels") or {}):
        path = ("metadata", "labels", contract.LABEL_QUEUE)
        if queued:
            yield about_key(path, "`batchSchedulerOptions.queue` replaces it on the Job", "delete it")
        else:
            yield about_key(
                path,
                "the driver waits in this queue, but its executors bypass it",
                "set the queue in `batchSchedulerOptions.queue`, with `batchScheduler: kueue`",
            )
    if queued and facts.get("suspend") is True and not facts.scheduled:
        yield about_key(
            facts.path("suspend"),
            "Kueue resumes a suspended Job as soon as its queue has room",
            "delete it; to hold everything back, set `stopPolicy: Hold` on the LocalQueue",
        )


@rule("SG316", ERROR)
def gangs(facts: DocumentFacts) -> Iterator[Finding]:
    """A gang that may never be complete, or a name that no queue of Kueue can have."""
    if facts.get("batchScheduler") is None:
        return
    try:
        executors = executors_of(facts.properties)
    except ValueError:  # a text that is no number: another rule finds it
        return
    batch = batch_scheduler(facts.spec, executors.minimum, executors.initial)
    if batch is None:
        return
    if batch.name == "kueue" and not _LOCAL_QUEUE.fullmatch(str(batch.queue)):
        yield Finding(
            facts.path(_OPTIONS, "queue"),
            "no LocalQueue of Kueue can have this name",
            str(batch.queue),
            "lower-case letters, digits, '-' and '.'",
            "use the name that `kubectl get localqueues.kueue.x-k8s.io` shows",
        )
    path = facts.path(_OPTIONS, "minExecutors")
    if batch.gang > executors.initial:
        yield Finding(
            path,
            f"the application starts with {executors.initial}, so the gang would never be complete",
            str(batch.gang),
            f"0 to {executors.initial}",
            "lower it, or start with more executors",
        )
    elif batch.gang > executors.minimum and batch.name in ("kueue", "kube-scheduler"):
        yield Finding(
            path,
            f"Spark may need fewer before the gang is complete, as few as {executors.minimum} "
            "(dynamicAllocation.minExecutors)",
            str(batch.gang),
            f"0 to {executors.minimum}",
            "raise dynamicAllocation.minExecutors, or lower batchSchedulerOptions.minExecutors",
        )
    if batch.name == "kube-scheduler":
        yield from _held_back(facts, batch.gang)


def _held_back(facts: DocumentFacts, gang: int) -> Iterator[Finding]:
    """Bounds that are smaller than the gang: its scheduler waits for all pods, which never exist together."""
    unschedulable = facts.get("allocation", "maxUnschedulablePods")
    bounds = {
        "maxUnschedulablePods": UNSCHEDULABLE if unschedulable is None else unschedulable,
        "maxPendingPods": facts.get("allocation", "maxPendingPods"),
    }
    if facts.get("allocation", "waitForRegistration") is True:
        bounds["batchSize"] = facts.get("allocation", "batchSize")
    for field, bound in bounds.items():
        if bound is not None and gang > int(bound):
            yield Finding(
                facts.path("allocation", field),
                f"the gang has {gang} executors, which never run together under this limit",
                str(bound),
                f"at least {gang}",
                f"set allocation.{field} to {gang} or more, or batchSchedulerOptions.minExecutors to less",
            )
