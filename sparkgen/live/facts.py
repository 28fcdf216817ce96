"""What is known about one run: its objects, its Events and the ends of its logs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.live import allocatorlog, gangs, queue
from sparkgen.live.gangs import Gang
from sparkgen.live.queue import QueuePlace
from sparkgen.live.state import Life, State, life_of
from sparkgen.live.values import (
    UNREAD,
    Run,
    container,
    leaving,
    name_of,
    running,
    status_of,
    terminated,
    uid_of,
)
from sparkgen.objects import ObjectView

TAIL = 300
"""Lines of a log that are read for a reason."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All that is known about a run.

    `events`: about its driver's object and pod, the oldest first; `driver_log`, `allocator_log`: their ends,
    "" where nothing needed them or nobody may read them; `target`: how many executors are wanted, None when
    nothing says it; `next_run`: the name of the latest run, if this is an earlier one; `place`: where what
    waits of it stands in its queue, None where it is in none; `gang`: the group that its pods are placed as.
    """

    run: Run
    life: Life
    events: tuple[ObjectView, ...] = ()
    driver_log: str = ""
    allocator_log: str = ""
    target: int | None = None
    next_run: str = ""
    place: QueuePlace | None = None
    gang: Gang | None = None


@dataclass(frozen=True, slots=True)
class Executors:
    """How many executors there are: `target` is how many are wanted, None when nobody knows."""

    running: int = 0
    pending: int = 0
    target: int | None = None


class Reads(Protocol):
    """What is read of a cluster: a Cluster."""

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> ObjectView | None:
        """An object; None if there is none."""
        ...

    def list(
        self, api_version: str, kind: str, namespace: str = "", selector: str = "", fields: str = ""
    ) -> Sequence[ObjectView]:
        """The objects of a kind that a label selector and a field selector choose."""
        ...

    def log(
        self,
        pod: str,
        container: str,
        namespace: str = "",
        *,
        tail: int | None = None,
        previous: bool = False,
    ) -> str:
        """The log of a container."""
        ...


def gather(cluster: Reads, run: Run, next_run: str = "") -> RunFacts:
    """What there is to know about a run; nothing is asked about one that went well, but for sessions."""
    life = life_of(run)
    if life.state in (State.SUCCEEDED, State.SUSPENDED):
        log = _allocator_log(cluster, run) if contract.is_session(run.workload) else ""
        found = queue.place(cluster, run) if life.state is State.SUSPENDED else None
        heard = tuple(_events(cluster, run)) if found is not None else ()
        return RunFacts(run, life, heard, allocator_log=log, next_run=next_run, place=found)
    events = tuple(_events(cluster, run))
    log = _allocator_log(cluster, run)
    target = None if life.over else allocatorlog.wanted(log)
    if target is None and not life.over:
        target = _planned(cluster, run, begun=allocatorlog.has_no_codes(log))
    found = None if life.over else queue.place(cluster, run)
    group = None if life.over else gangs.gang(cluster, run)
    return RunFacts(run, life, events, _driver_log(cluster, run), log, target, next_run, found, group)


def executors(facts: RunFacts) -> Executors:
    """How many executors there are."""
    there = [status_of(pod).get("phase") for pod in facts.run.executors if not leaving(pod)]
    return Executors(there.count("Running"), there.count("Pending"), facts.target)


def fill(step: str, facts: RunFacts) -> str:
    """A next step with the names that its command takes."""
    run = "" if facts.run.latest else f" --run {facts.run.name}"
    return step.replace("NAME", f"{facts.run.application}{run} -n {facts.run.namespace}")


def time_of(event: ObjectView) -> str:
    """When an Event happened last. RFC 3339: texts that sort by time, to the second."""
    series = event.get("series") or {}
    found = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )
    return str(found or "")


def _events(cluster: Reads, run: Run) -> Iterator[ObjectView]:
    selectors = [f"involvedObject.uid={uid_of(item)}" for item in (run.workload, *run.drivers[:1])]
    if run.kind == "Deployment" and not run.drivers:
        selectors.append("involvedObject.kind=ReplicaSet")
    found: list[ObjectView] = []
    for selector in selectors:
        try:
            found += cluster.list("v1", "Event", run.namespace, fields=selector)
        except ClusterError as error:
            if error.status not in UNREAD:
                raise
    mine = name_of(run.workload)
    yield from sorted(
        (one for one in found if str((one.get("involvedObject") or {}).get("name", "")).startswith(mine)),
        key=time_of,
    )


def _driver_log(cluster: Reads, run: Run) -> str:
    """The end of what the driver's program wrote before it failed, this time or the last."""
    if run.driver is None or contract.is_session(run.driver):
        return ""
    status = container(run.driver)
    if terminated(status).get("exitCode"):
        return _log(cluster, run, contract.DRIVER_CONTAINER)
    last = (status.get("lastState") or {}).get("terminated") or {}
    if last.get("exitCode") and not running(status):
        return _log(cluster, run, contract.DRIVER_CONTAINER, previous=True)
    return ""


def _allocator_log(cluster: Reads, run: Run) -> str:
    status = container(run.driver, contract.ALLOCATOR_CONTAINER) if run.driver is not None else {}
    if running(status) or terminated(status):
        return _log(cluster, run, contract.ALLOCATOR_CONTAINER)
    return ""


def _log(cluster: Reads, run: Run, name: str, *, previous: bool = False) -> str:
    if run.driver is None:
        return ""
    try:
        return cluster.log(name_of(run.driver), name, run.namespace, tail=TAIL, previous=previous)
    except ClusterError as error:
        if error.status not in UNREAD:
            raise
        return ""


def _planned(cluster: Reads, run: Run, *, begun: bool) -> int | None:
    """How many executors the application starts with, from its tuning.

    `begun`: it goes on by now, with as many as it says or, with dynamic allocation, nobody knows how many.
    """
    try:
        whose = run.name if contract.is_session(run.workload) else run.application
        found = cluster.get("v1", "ConfigMap", f"{whose}-tuning", run.namespace)
        data = (found or {}).get("data") or {}
        planned = json.loads(data.get(contract.TUNING_FILE) or "{}").get("executors") or {}
    except (ClusterError, ValueError, AttributeError):
        return None
    later = None if begun else planned.get("initial", planned.get("minimum"))
    number = planned.get("instances", later)
    return number if isinstance(number, int) else None
