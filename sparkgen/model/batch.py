"""The batch scheduler of an application: `batchScheduler` and its options, with every default applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scheduler = Literal["kueue", "volcano", "yunikorn", "kube-scheduler"]

DEFAULT_QUEUE = "default"
"""Kueue's name for the queue of documents that name none."""


@dataclass(frozen=True, slots=True)
class BatchScheduler:
    """The scheduler that decides what may run, and its settings.

    `queue` and `priority`: None if the document names none. `executor_priority`: that of the executors.
    `gang`: how many executors must exist together, 0 if each starts on its own. `resources`: what Volcano
    reserves instead of the computed sum.
    """

    name: Scheduler
    queue: str | None
    priority: str | None
    executor_priority: str | None
    gang: int
    resources: Mapping[str, Any] | None


def batch_scheduler(spec: Mapping[str, Any], minimum: int, initial: int) -> BatchScheduler | None:
    """The batch scheduler that a document names; None if the cluster's scheduler places the pods.

    `minimum` and `initial`: the number of executors that always exist, and that the application starts with.
    """
    name: Scheduler | None = spec.get("batchScheduler")
    if name is None:
        return None
    options = spec.get("batchSchedulerOptions") or {}
    return BatchScheduler(
        name=name,
        queue=options.get("queue", DEFAULT_QUEUE if name == "kueue" else None),
        priority=options.get("priorityClassName"),
        executor_priority=options.get("executorPriorityClassName", options.get("priorityClassName")),
        gang=options.get("minExecutors", default_gang(name, minimum, initial)),
        resources=options.get("resources"),
    )


def default_gang(name: Scheduler, minimum: int, initial: int) -> int:
    """How many executors must exist together if the document does not say it.

    With Kueue none, because users choose Kueue so that executors start one by one. The scheduler of
    Kubernetes counts existing pods, so the gang is never larger than the number that Spark always wants.
    """
    return {"kueue": 0, "kube-scheduler": minimum}.get(name, initial)
