"""A run in a queue of Kueue: its place in the queue, if the user may read Workloads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sparkgen import contract
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import (
    UNREAD,
    Run,
    born,
    conditions,
    label_of,
    name_of,
    owners_of,
    status_of,
    uid_of,
)
from sparkgen.objects import ObjectView
from sparkgen.runtime.allocator.observe.causes import waiting_of
from sparkgen.thread_map import Once

VERSIONS = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
"""Versions of Workloads, the newest first: each Kueue serves at least one of them."""
_NO_CLASS = "WorkloadPriorityClassNotFound"
_TAKEN = "CreatedWorkload"
"""Reasons of Kueue's Events about a Job: its priority class is missing; it is in its queue."""
_DRIVER_STEP = (
    "the pod starts when its queue has room; to see why it waits: kubectl get workloads.kueue.x-k8s.io"
)
_EXECUTORS_STEP = (
    "they start when their queue has room; to see why they wait: kubectl get workloads.kueue.x-k8s.io"
)


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """A run's place in its queue.

    `position`: of the run's first Workload that waits, from 1, of `waiting` in this LocalQueue; 0 if it is
    unknown, or none waits. `why`: Kueue's message why it waits, or "".
    """

    name: str
    position: int = 0
    waiting: int = 0
    why: str = ""


_Places = dict[str, dict[str, QueuePlace]]
"""Queue -> uid of an object -> the place of its first Workload that waits."""


def queue_of(run: Run) -> str:
    """Returns the queue that a run is in; "" if it is in none."""
    return label_of(run.workload, contract.LABEL_QUEUE)


def queued(pods: Iterable[ObjectView]) -> list[ObjectView]:
    """Returns the pods that a queue holds back."""
    return [pod for pod in pods if (waits := waiting_of(pod)) is not None and waits.queued]


class Queues:
    """The queues of a cluster, as they are when they are first asked for: a namespace's are read once.

    If they cannot be read, each caller gets the same error. Several threads may ask at the same time.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._in: Once[str, _Places] = Once(lambda namespace: _places(_workloads(cluster, namespace)))

    def place(self, run: Run) -> QueuePlace | None:
        """Returns the place of the first waiting Workload of a run's driver and executors; None: no queue."""
        name = queue_of(run)
        if not name:
            return None
        places = self._in(run.namespace).get(name, {})
        own = (places.get(uid_of(item)) for item in (run.workload, *run.executors))
        return min(filter(None, own), key=lambda place: place.position, default=QueuePlace(name))


def _places(workloads: Iterable[ObjectView]) -> _Places:
    """Returns the place of each object that owns a waiting Workload. Pure."""
    queues: defaultdict[str, list[ObjectView]] = defaultdict(list)
    for workload in workloads:
        if _waits(workload):
            queues[_queue_in(workload)].append(workload)
    places: _Places = {}
    for name, waiting in queues.items():
        places[name] = {}
        for position, workload in enumerate(sorted(waiting, key=_order), 1):
            place = QueuePlace(name, position, len(waiting), _why(workload))
            for owner in owners_of(workload):
                places[name].setdefault(str(owner["uid"]), place)
    return places


def driver_waits(place: QueuePlace) -> Reason:
    """Returns the reason that the driver waits in its queue."""
    where = f", {_ordinal(place.position)} of {place.waiting}" if place.position else ""
    why = f" ({detail(place.why)})" if place.why else ""
    return Reason("queued", f"queued in {place.name}{where}{why}", _DRIVER_STEP)


def without_class(run: Run, events: Iterable[ObjectView]) -> Reason | None:
    """Returns the reason that the Job is in no queue as its priority class is missing; None without an Event.

    `events`: about the Job, the oldest first. Kueue creates no Workload then, and reports it nowhere else.
    """
    said = [event.get("reason") for event in events if event.get("reason") in (_NO_CLASS, _TAKEN)]
    if said[-1:] != [_NO_CLASS]:
        return None
    missing = label_of(run.workload, contract.LABEL_QUEUE_PRIORITY)
    return Reason(
        "queued",
        f"not in the queue {queue_of(run)}: there is no WorkloadPriorityClass {missing}",
        "create it, or correct batchSchedulerOptions.priorityClassName; to see which exist: "
        "kubectl get workloadpriorityclasses.kueue.x-k8s.io",
    )


def executors_wait(place: QueuePlace | None, admitted: int, waiting: int, wanted: int | None) -> Reason:
    """Returns the reason that executors wait. `admitted`: how many their queue let start, of `wanted`."""
    of = f"{admitted} of {wanted}" if wanted is not None else str(admitted)
    where = f"in the queue {place.name}" if place is not None else "at a scheduling gate"
    why = f" ({detail(place.why)})" if place is not None and place.why else ""
    wait = "waits" if waiting == 1 else "wait"
    step = _EXECUTORS_STEP if place is not None else "wait for their queue or controller to remove the gate"
    return Reason("queued", f"{of} executors admitted, {waiting} {wait} {where}{why}", step)


def _workloads(cluster: Cluster, namespace: str) -> Sequence[ObjectView]:
    for version in VERSIONS:
        try:
            return cluster.list(version, "Workload", namespace)
        except ClusterError as error:
            if error.status not in UNREAD:
                raise
    return ()


def _queue_in(workload: ObjectView) -> str:
    return str((workload.get("spec") or {}).get("queueName") or "")


def _waits(workload: ObjectView) -> bool:
    return not conditions(workload).keys() & {"QuotaReserved", "Admitted", "Finished"}


def _order(workload: ObjectView) -> tuple[int, str, str]:
    """The sort key of Kueue's order in a queue: by priority, then the oldest first."""
    return -int((workload.get("spec") or {}).get("priority") or 0), born(workload), name_of(workload)


def _why(workload: ObjectView) -> str:
    said = (one for one in status_of(workload).get("conditions") or () if one.get("type") == "QuotaReserved")
    return next((str(one.get("message") or "") for one in said), "")


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
