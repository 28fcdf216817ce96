"""Who decides what of an application may run: `batchScheduler` and its options, every default applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Scheduler = Literal["kueue", "volcano", "yunikorn", "kube-scheduler"]

DEFAULT_QUEUE = "default"
"""Kueue's name for the queue of those that name none."""


@dataclass(frozen=True, slots=True)
class BatchScheduler:
    """Who decides what may run, and what it is told.

    `queue` and `priority`: None where the document names none. `gang`: how many executors have to be there
    together, 0 where each comes by itself. `resources`: what Volcano reserves in place of what is computed.
    """

    name: Scheduler
    queue: str | None
    priority: str | None
    gang: int
    resources: Mapping[str, Any] | None


def batch_scheduler(spec: Mapping[str, Any], minimum: int, initial: int) -> BatchScheduler | None:
    """What a document says; None where it leaves the pods to the cluster's scheduler.

    `minimum` and `initial`: executors that there always are, and that the application begins with.
    """
    name: Scheduler | None = spec.get("batchScheduler")
    if name is None:
        return None
    options = spec.get("batchSchedulerOptions") or {}
    return BatchScheduler(
        name=name,
        queue=options.get("queue", DEFAULT_QUEUE if name == "kueue" else None),
        priority=options.get("priorityClassName"),
        gang=options.get("minExecutors", default_gang(name, minimum, initial)),
        resources=options.get("resources"),
    )


def default_gang(name: Scheduler, minimum: int, initial: int) -> int:
    """How many executors have to be there together where a document does not say it.

    With Kueue none: that executors come one by one is what it is chosen for. The scheduler of Kubernetes
    counts pods that are there, so no more than Spark always wants.
    """
    return {"kueue": 0, "kube-scheduler": minimum}.get(name, initial)
