"""Gathers the facts about a run: its objects, its Events and the ends of its logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sparkgen import contract
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.jsonvalue import decode
from sparkgen.live import allocatorlog, gangs
from sparkgen.live.gangs import Gang
from sparkgen.live.queue import QueuePlace, Queues, queue_of
from sparkgen.live.state import Life, State, life_of
from sparkgen.live.values import (
    UNREAD,
    Run,
    by_spark,
    container,
    leaving,
    moment,
    name_of,
    running,
    status_of,
    terminated,
    uid_of,
)
from sparkgen.objects import ObjectView
from sparkgen.resources.spark_backend import executors_in
from sparkgen.runtime.kubernetes.untrusted import mapping, number_in
from sparkgen.thread_map import Once

TAIL = 300
"""The number of lines at the end of a log that are read to find a reason."""
MOST_OF_TAIL = 256 << 10
"""The most bytes of these lines: the last ones. A line of a log may have 16 KiB."""
MOST_OF_FILE = 64 << 10
"""The most characters of a ConfigMap's file that are read to find how many executors a run starts with."""


_Named = tuple[str, str]
"""The name and the namespace of a ConfigMap."""
Started = tuple[int | None, int | None]
"""The number of executors, and with dynamic allocation the first; None if it is unknown."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts about a run.

    `events`: about its driver's object and pod, the oldest first (a Deployment without a pod: also about its
    ReplicaSets); `driver_log`, `allocator_log`: their ends, "" if they are not needed or may not be read;
    `target`: how many executors are wanted, None if that is unknown; `next_run`: the name of the latest run,
    if this is an earlier one; `place`: its place in its queue, None if it is in no queue; `gang`: the group
    with which its pods are placed.
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
    """The numbers of executors. `target`: how many are wanted, None if that is unknown."""

    running: int = 0
    pending: int = 0
    target: int | None = None


class Shared:
    """What several runs may share: their queues, gangs and Events.

    Each is read once, however many runs name it: labels that anybody may set must not multiply requests.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.queues = Queues(cluster)
        self.events: Callable[[str, ObjectView], Sequence[ObjectView]] = lambda namespace, item: (
            _events_about(cluster, namespace, f"involvedObject.uid={uid_of(item)}")
        )
        self.started_by_spark: Callable[[_Named], int | None] = Once[_Named, int | None](
            lambda named: started_by_spark(_config_map(cluster, *named))
        )
        self.started: Callable[[_Named], Started] = Once[_Named, Started](
            lambda named: started(_config_map(cluster, *named))
        )
        self.events_of_replica_sets: Once[str, Sequence[ObjectView]] = Once(
            lambda namespace: _events_about(cluster, namespace, "involvedObject.kind=ReplicaSet")
        )
        self.gang: Callable[[tuple[str, ...]], Gang] = Once[tuple[str, ...], Gang](
            lambda named: gangs.read(cluster, named)
        )

    def log(self, run: Run, name: str, *, previous: bool = False) -> str:
        """Returns the end of a log of the run's driver; "" if it may not be read."""
        if run.driver is None:
            return ""
        try:
            return self.cluster.log(
                name_of(run.driver), name, run.namespace, tail=TAIL, previous=previous, most=MOST_OF_TAIL
            )
        except ClusterError as error:
            if error.status not in UNREAD:
                raise
            return ""


@dataclass(frozen=True, slots=True)
class Event:
    """An Event, such as one of the scheduler about a pod that fits no node.

    `time`: when it happened last, None if that is unknown; `about`: its object, "Pod pi-1a2b3c4d-x7k2p";
    `warning`: whether its type is Warning; `count`: how often it happened.
    """

    time: datetime | None
    about: str
    reason: str
    message: str
    warning: bool
    count: int


def events_of(run: Run, shared: Shared) -> tuple[Event, ...]:
    """Returns the Events about a run's driver, its object and its pod, the oldest first.

    None if they may not be read. An Event whose fields have other types than Kubernetes' is left out.
    """
    return tuple(event for item in _events(run, shared) if (event := _event(item)) is not None)


def _event(item: ObjectView) -> Event | None:
    about = item.get("involvedObject") or {}
    try:
        return Event(
            moment(time_of(item)),
            f"{about.get('kind')} {about.get('name')}",
            str(item.get("reason") or ""),
            str(item.get("message") or ""),
            item.get("type") == "Warning",
            int((item.get("series") or {}).get("count") or item.get("count") or 1),
        )
    except (TypeError, ValueError):
        return None


def has_events(run: Run, life: Life) -> bool:
    """Whether `gather` reads the Events of a run."""
    if life.state is State.SUSPENDED:
        return bool(queue_of(run))
    return life.state is not State.SUCCEEDED


def gather(cluster: Cluster, run: Run, next_run: str = "", shared: Shared | None = None) -> RunFacts:
    """Returns the facts about a run. Reads only what its state needs. `shared`: with other runs.

    For a run that succeeded, it reads only the allocator's log, and only if the run is a session. For a
    suspended run, it reads this log in the same case, the run's place in its queue, and, if the run is in
    a queue, its Events. For any other run, it reads the Events and both logs; until the run has ended,
    also how many executors are wanted, the place in the queue, and the group of pods.
    """
    life, shared = life_of(run), shared or Shared(cluster)
    if life.state in (State.SUCCEEDED, State.SUSPENDED):
        log = _allocator_log(run, shared) if contract.is_session(run.workload) else ""
        place = shared.queues.place(run) if life.state is State.SUSPENDED else None
        queue_events = tuple(_events(run, shared)) if place is not None else ()
        return RunFacts(run, life, queue_events, allocator_log=log, next_run=next_run, place=place)
    events = tuple(_events(run, shared))
    log = _allocator_log(run, shared)
    target = None if life.over else allocatorlog.wanted(log)
    if target is None and not life.over:
        target = _planned(run, shared, begun=allocatorlog.has_no_codes(log))
    place = None if life.over else shared.queues.place(run)
    group = None if life.over else gangs.gang(run, shared.gang)
    return RunFacts(run, life, events, _driver_log(run, shared), log, target, next_run, place, group)


def executors(facts: RunFacts) -> Executors:
    """Returns the numbers of executors."""
    phases = [status_of(pod).get("phase") for pod in facts.run.executors if not leaving(pod)]
    return Executors(phases.count("Running"), phases.count("Pending"), facts.target)


def fill(step: str, facts: RunFacts) -> str:
    """Returns a next step with the names filled in that its command needs."""
    run = "" if facts.run.latest else f" --run {facts.run.name}"
    return step.replace("NAME", f"{facts.run.application}{run} -n {facts.run.namespace}")


def time_of(event: ObjectView) -> str:
    """Returns when an Event happened last: RFC 3339, which sorts by time, to the second; "" if unknown."""
    series = event.get("series") or {}
    latest = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or event["metadata"].get("creationTimestamp")
    )
    return str(latest or "")


def _events(run: Run, shared: Shared) -> Iterator[ObjectView]:
    events: list[ObjectView] = []
    for item in (run.workload, *run.drivers[:1]):
        events += shared.events(run.namespace, item)
    if run.kind == "Deployment" and not run.drivers:
        events += shared.events_of_replica_sets(run.namespace)
    mine = name_of(run.workload)
    yield from sorted(
        (one for one in events if str((one.get("involvedObject") or {}).get("name", "")).startswith(mine)),
        key=time_of,
    )


def _events_about(cluster: Cluster, namespace: str, selector: str) -> Sequence[ObjectView]:
    """Returns Events; none if they may not be read."""
    try:
        return cluster.list("v1", "Event", namespace, fields=selector)
    except ClusterError as error:
        if error.status not in UNREAD:
            raise
        return ()


def _driver_log(run: Run, shared: Shared) -> str:
    """Returns the end of the driver's log if its program failed, now or before its last restart; else "".

    If Spark's own backend creates the executors, only this log says why it cannot: then also while it runs.
    """
    if run.driver is None or contract.is_session(run.driver):
        return ""
    status = container(run.driver)
    if terminated(status).get("exitCode") or (running(status) and by_spark(run)):
        return shared.log(run, contract.DRIVER_CONTAINER)
    last = (status.get("lastState") or {}).get("terminated") or {}
    if last.get("exitCode") and not running(status):
        return shared.log(run, contract.DRIVER_CONTAINER, previous=True)
    return ""


def _allocator_log(run: Run, shared: Shared) -> str:
    status = container(run.driver, contract.ALLOCATOR_CONTAINER) if run.driver is not None else {}
    if running(status) or terminated(status):
        return shared.log(run, contract.ALLOCATOR_CONTAINER)
    return ""


def _planned(run: Run, shared: Shared, *, begun: bool) -> int | None:
    """Returns how many executors the application starts with; None if that is unknown.

    `begun`: it has started already: with dynamic allocation, the number of executors is then unknown.
    """
    if by_spark(run):
        return shared.started_by_spark((f"{run.label}-conf", run.namespace))
    whose = run.name if contract.is_session(run.workload) else run.application
    instances, initial = shared.started((f"{whose}-tuning", run.namespace))
    return instances if begun or instances is not None else initial


def started_by_spark(found: ObjectView) -> int | None:
    """Returns the same from a run's properties; None with dynamic allocation: only the driver knows it.

    `found`: the ConfigMap, {} if it cannot be read.
    """
    try:
        planned = executors_in(_files(found))
        if planned is None or planned.dynamic:
            return None
        return number_in({"instances": planned.instances}, "instances")
    except ValueError:
        return None


def started(found: ObjectView) -> Started:
    """Returns the number of executors in an application's tuning, and with dynamic allocation the first.

    `found`: the ConfigMap, {} if it cannot be read.
    """
    try:
        document = mapping(decode(_files(found).get(contract.TUNING_FILE) or "{}"), contract.TUNING_FILE)
        planned = mapping(document.get("executors"), "executors")
        numbers = {key: number_in(planned, key) for key in ("instances", "initial", "minimum")}
    except ValueError:
        return None, None
    initial = numbers["minimum"] if numbers["initial"] is None else numbers["initial"]
    return numbers["instances"], initial


def _config_map(cluster: Cluster, name: str, namespace: str) -> ObjectView:
    try:
        return cluster.get("v1", "ConfigMap", name, namespace) or {}
    except ClusterError:
        return {}


def _files(found: ObjectView) -> Mapping[str, str]:
    """Returns a ConfigMap's files without those that are too large to be read for each run."""
    data = mapping(found.get("data"), "data")
    return {key: text for key, text in data.items() if isinstance(text, str) and len(text) <= MOST_OF_FILE}
