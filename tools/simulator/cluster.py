"""Scheduler, nodes, kubelets and the pod garbage collector; and the executors in the pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Protocol

from simulator import nodes, placement
from simulator.active_faults import ActiveFaults
from simulator.apiserver import ApiServer, Change
from simulator.event_queue import EventQueue
from simulator.invariants.hooks import Invariants
from simulator.nodes import Node
from simulator.schedule import FaultKind, Schedule
from simulator.template import MEMORY
from sparkgen.objects import Object
from sparkgen.runtime.allocator.driver.mailbox import StartAnswer
from sparkgen.runtime.allocator.values.observed import Cause

PATIENCE = 60.0
"""Seconds for which an executor keeps asking an allocator that does not answer (executor.sh)."""
NOT_READY_AFTER = 8.0
"""Seconds until the control plane notices an unreachable node; Kubernetes waits 40 s."""
TAINTED_AFTER = 18.0
"""Seconds until pods must leave the node; Kubernetes' default toleration is 300 s."""
COLLECTED_AFTER = 10.0
"""Seconds until the pods of a removed node are deleted."""


@dataclass(slots=True)
class Executor:
    """The executor in a pod, and the true causes of its end. `host` is "" until it runs."""

    id: int
    uid: str
    name: str
    profile: int
    made_at: float
    added_memory: int
    """MiB that its pod's limit has more than its profile."""
    host: str = ""
    runs: bool = False
    registered: bool = False
    answered_at: float = 0.0
    causes: list[tuple[Cause, bool]] = field(default_factory=list)
    """Every true cause of its end, and whether this is the application's fault."""
    unreported: Callable[[Object], Object] | None = None
    """The change of the pod that its kubelet writes once it reaches the API server again."""

    def ends_for(self, cause: Cause, *, by_application: bool = False) -> None:
        """Add a true cause of its end."""
        self.causes.append((cause, by_application))


class DriverSession(Protocol):
    """The part of the driver that executors use."""

    @property
    def hangs(self) -> bool:
        """Whether it is paused."""
        ...

    def admits(self, executor: Executor) -> bool:
        """Register an executor. Returns whether it may."""
        ...

    def disconnected(self, id_: int) -> None:
        """Handle the broken connection of an executor."""
        ...


class ClusterSurroundings(Protocol):
    """The part of the world that the cluster uses."""

    schedule: Schedule
    event_queue: EventQueue
    active_faults: ActiveFaults
    server: ApiServer
    invariants: Invariants

    @property
    def driver(self) -> DriverSession | None:
        """The running driver; None between two."""
        ...

    def note(self, who: str, text: str) -> None:
        """Write a line of the timeline."""
        ...

    def start_answer(self, id_: int) -> StartAnswer | None:
        """The start answer for an executor; None if no allocator answers."""
        ...

    def want_fewer(self) -> None:
        """Lower Spark's target."""
        ...


class Cluster:
    """All nodes by name, and all executors that ever existed, by UID."""

    def __init__(self, world: ClusterSurroundings) -> None:
        schedule = world.schedule
        self.nodes: dict[str, Node] = {}
        self._pools = schedule.settings.pools
        for _ in range(schedule.nodes):
            self.add_node()
        self.executors: dict[str, Executor] = {}
        self.without_files = 0
        """The number of executors that failed because their files were not available."""
        self.neighbours: list[Cluster] = []
        """Other applications on nodes of the same names: their pods take up room on these nodes."""
        self._world = world
        self._random = Random(f"cluster {schedule.seed}")
        self._hungry = any(fault.kind is FaultKind.HUNGRY for fault in schedule.faults)
        self._of_memory = Random(f"hungry {schedule.seed}")
        self._slots = schedule.slots
        world.server.mutate = self._queued

    def add_node(self) -> None:
        """Add a node."""
        count = len(self.nodes)
        name, of = f"node-{count + 1}", self._pools
        self.nodes[name] = Node(name, of[count % len(of)].name if of else "")

    def pod(self, executor: Executor) -> Object | None:
        """The executor's pod in the API server; None if it no longer exists."""
        pod = self._world.server.pods.get(executor.name)
        return pod if pod is not None and pod["metadata"]["uid"] == executor.uid else None

    def is_well(self, executor: Executor) -> bool:
        """Whether the executor's node can start pods; True without a pod or a node."""
        pod = self.pod(executor)
        name = pod["spec"].get("nodeName") if pod is not None else None
        return name is None or self.nodes[name].takes

    def running(self) -> list[Executor]:
        """The executors whose process runs."""
        return [executor for executor in self.executors.values() if executor.runs]

    # --- reactions to changes of pods -----------------------------------------------------------------

    def changed(self, change: Change) -> None:
        """Let the scheduler or a kubelet react to a change of a pod."""
        _, kind, pod = change
        metadata = pod["metadata"]
        if kind == "ADDED":
            labels = metadata["labels"]
            executor = Executor(
                int(labels["spark-exec-id"]),
                metadata["uid"],
                metadata["name"],
                int(labels["spark-exec-resourceprofile-id"]),
                self._world.event_queue.now,
                nodes.memory_limit(pod) - MEMORY,
            )
            self.executors[executor.uid] = executor
            self._soon(0.1, 0.8, lambda: self._schedule(executor))
            return
        executor = self.executors[metadata["uid"]]
        if kind == "DELETED":
            self._soon(0.1, 1.0, lambda: self._stop(executor, 137))
        elif metadata.get("deletionTimestamp") and executor.runs:
            self._soon(0.2, 2.0, lambda: self._told_to_end(executor))

    def _soon(self, least: float, most: float, what: Callable[[], None]) -> None:
        self._world.event_queue.after(self._random.uniform(least, most), what)

    def _queued(self, pod: Object) -> Object:
        """The new pod, with a scheduling gate if there is a queue."""
        return pod if self._world.active_faults.room() is None else nodes.gated(pod)

    def _admits(self) -> bool:
        """Whether the queue has room for one more pod: its pods count until they have ended."""
        room, pods = self._world.active_faults.room(), self._world.server.pods.values()
        alive = [pod for pod in pods if pod["status"]["phase"] in ("Pending", "Running")]
        return room is None or sum(not nodes.is_gated(pod) for pod in alive) < room

    def _schedule(self, executor: Executor) -> None:
        pod = self.pod(executor)
        if pod is None or pod["spec"].get("nodeName"):
            return
        if nodes.is_gated(pod):
            if self._admits():
                self._world.server.put("MODIFIED", nodes.admitted(pod))
            self._soon(0.3, 1.0, lambda: self._schedule(executor))
            return
        server = self._world.server
        pods = placement.tried_with(pod, server.pods.values(), server.pod_groups)
        places = self._places(pods)
        if places:
            self._bind(list(zip(pods, places, strict=True)))
            return
        if pods and not pod["status"].get("conditions"):
            server.put("MODIFIED", nodes.unschedulable(pod))
        self._soon(1.0, 2.0, lambda: self._schedule(executor))

    def _bind(self, pairs: list[tuple[Object, Node]]) -> None:
        """Bind each pod to its node, all at the same time."""
        executors = [self.executors[pod["metadata"]["uid"]] for pod, _ in pairs]
        self._world.invariants.placed(executors)
        for executor, (pod, node) in zip(executors, pairs, strict=True):
            self._world.server.put("MODIFIED", nodes.bound(pod, node.name))
            self._soon(0.3, 2.0, partial(self._begin, executor, node))

    def _places(self, pods: list[Object]) -> list[Node]:
        """A node with room for each of these pods; [] if one of them fits nowhere."""
        if self._world.active_faults.holds(FaultKind.FULL):
            return []
        used = [self._used(), *(neighbour._used() for neighbour in self.neighbours)]
        taken = sum(used, Counter[str]())
        found: list[Node] = []
        for pod in pods:
            free = [node for node in self.nodes.values() if node.takes and taken[node.name] < self._slots]
            free = [node for node in free if nodes.selects(pod, node) and not self._is_short(node)]
            if not free:
                return []
            found.append(self._random.choice(free))
            taken[found[-1].name] += 1
        return found

    def _is_short(self, node: Node) -> bool:
        """Whether the node's pool has no more nodes now: of the pool that is short, no node takes a pod."""
        short = self._world.active_faults.short_pool()
        return short is not None and self._pools[short].name == node.pool

    def _used(self) -> Counter[str]:
        """The number of this application's pods by node."""
        return Counter(str(pod["spec"].get("nodeName")) for pod in self._world.server.pods.values())

    def _begin(self, executor: Executor, node: Node) -> None:
        pod = self.pod(executor)
        if pod is None or pod["status"]["phase"] != "Pending":
            return
        if not node.takes:
            if node.there:
                self._soon(1.0, 2.0, lambda: self._begin(executor, node))
            return
        if pod["metadata"].get("deletionTimestamp"):
            self._world.server.put("DELETED", pod)
            return
        if self._world.active_faults.left[FaultKind.NO_FILES]:
            executor.ends_for(Cause.FAILED_START, by_application=True)
            self.without_files += 1
            self._world.server.put("MODIFIED", nodes.without_files(pod))
            return
        if self._world.active_faults.holds(FaultKind.FETCH_SLOW):
            self._soon(1.0, 2.0, lambda: self._begin(executor, node))
            return
        executor.host, executor.runs, executor.answered_at = node.name, True, self._world.event_queue.now
        self._world.server.put("MODIFIED", nodes.running(pod))
        self._soon(0.05, 0.5, lambda: self._ask(executor))

    # --- executors in pods ----------------------------------------------------------------------------

    def ask_all(self) -> None:
        """Let all executors that are not registered ask for their start answer now."""
        for executor in self.running():
            if not executor.registered:
                self._world.start_answer(executor.id)

    def _ask(self, executor: Executor) -> None:
        """Ask for the start answer, as executor.sh does."""
        if not executor.runs:
            return
        word, now = self._world.start_answer(executor.id), self._world.event_queue.now
        if word is StartAnswer.GO:
            self._world.note(f"executor {executor.id}", "may start")
            slow = 20.0 if self._world.active_faults.holds(FaultKind.REGISTER_SLOW) else 0.0
            jvm = self._random.uniform(0.5 + slow, 3.0 + slow)
            if self._world.active_faults.takes(FaultKind.CHANGE_OF_MIND):
                self._world.event_queue.after(jvm - self._random.uniform(0.0, 0.2), self._world.want_fewer)
            self._world.event_queue.after(jvm, lambda: self._register(executor))
            return
        if word is StartAnswer.LEAVE:
            executor.ends_for(Cause.KILLED)
            executor.ends_for(Cause.EXITED)
            self._stop(executor, 0)
            return
        if word is StartAnswer.WAIT:
            executor.answered_at = now
        elif now - executor.answered_at > PATIENCE:
            executor.ends_for(Cause.EXITED)
            self._stop(executor, 1)
            return
        self._soon(0.7, 1.5, lambda: self._ask(executor))

    def _register(self, executor: Executor) -> None:
        if not executor.runs:
            return
        driver = self._world.driver
        if driver is not None and driver.hangs:
            self._soon(1.0, 2.0, lambda: self._register(executor))
            return
        if driver is not None and driver.admits(executor):
            executor.registered = True
            if self._hungry:
                self._need_memory(executor)
            return
        executor.ends_for(Cause.EXITED)
        self._stop(executor, 1)

    def _need_memory(self, executor: Executor) -> None:
        """Kill an executor that has less memory than it needs within six seconds, as the kernel does."""

        def look() -> None:
            if self.has_too_little_memory(executor):
                self.exits(executor, out_of_memory=True)
            if executor.runs:
                self._need_memory(executor)

        self._world.event_queue.after(self._of_memory.uniform(1.0, 6.0), look)

    def has_too_little_memory(self, executor: Executor) -> bool:
        """Whether an executor runs that needs more memory than it has."""
        need = self._world.active_faults.left[FaultKind.HUNGRY] * 100
        return executor.runs and executor.added_memory < need

    def told_to_stop(self, executor: Executor) -> None:
        """Deliver the driver's message StopExecutor, which may be lost."""
        if not self._world.active_faults.takes(FaultKind.KILL_LOST):
            self._soon(0.1, 1.0, lambda: self._stop(executor, 0))

    def decommissioned(self, executor: Executor) -> None:
        """End an executor after the time that it needs to move its data."""
        executor.ends_for(Cause.KILLED)
        self._soon(2.0, 10.0, lambda: self._stop(executor, 0))

    def driver_is_gone(self) -> None:
        """End the registered executors, because the driver's process has ended."""
        for executor in self.running():
            if executor.registered:
                self._leave(executor)

    def _leave(self, executor: Executor) -> None:
        def leave() -> None:
            executor.ends_for(Cause.EXITED)
            self._stop(executor, 1)

        self._soon(0.5, 5.0, leave)

    def _told_to_end(self, executor: Executor) -> None:
        """End an executor by the kubelet's SIGTERM, if its node can be reached."""
        if self.nodes[executor.host].takes:
            self._stop(executor, 143)

    def _stop(self, executor: Executor, exit_code: int, reason: str = "") -> None:
        """End the process; its kubelet writes this to the pod, now or once it can."""
        if not executor.runs or not self.nodes[executor.host].runs:
            return
        self.ends(executor, 0.05, 0.5)
        self._write(executor, lambda pod: nodes.ended(pod, exit_code, reason))

    def ends(self, executor: Executor, least: float, most: float) -> None:
        """End the process; the driver notices it `least` to `most` seconds later."""
        executor.runs = False
        self._world.note(f"executor {executor.id}", "ends")
        driver = self._world.driver
        if executor.registered and driver is not None:
            self._soon(least, most, lambda: driver.disconnected(executor.id))

    def _write(self, executor: Executor, change: Callable[[Object], Object]) -> None:
        if not self.nodes[executor.host].reaches:
            executor.unreported = change
            return
        pod = self.pod(executor)
        if pod is None:
            return
        pod = self._world.server.put("MODIFIED", change(pod))
        if pod["metadata"].get("deletionTimestamp"):
            self._world.server.put("DELETED", pod)

    # --- faults ---------------------------------------------------------------------------------------

    def evict(self, executor: Executor) -> None:
        """Evict an executor, as its node does."""
        executor.ends_for(Cause.EVICTED)
        self.ends(executor, 0.05, 0.5)
        self._write(executor, nodes.evicted)

    def disrupt(self, executor: Executor, cause: Cause, reason: str, kind: str = nodes.DISRUPTION) -> None:
        """Delete an executor as the control plane or a queue does; a condition of `kind` has the reason."""
        pod = self.pod(executor)
        if pod is not None:
            executor.ends_for(cause)
            server = self._world.server
            server.mark_deleted(server.put("MODIFIED", nodes.disrupted(pod, reason, kind)))

    def delete(self, executor: Executor, *, forced: bool) -> None:
        """Delete an executor's pod, as a user does."""
        pod = self.pod(executor)
        if pod is not None:
            executor.ends_for(Cause.DELETED)
            self._world.server.mark_deleted(pod, forced=forced)

    def exits(self, executor: Executor, *, out_of_memory: bool) -> None:
        """End an executor through the application's fault."""
        cause = Cause.OOM if out_of_memory else Cause.EXITED
        executor.ends_for(cause, by_application=True)
        self._stop(executor, 137 if out_of_memory else 1, "OOMKilled" if out_of_memory else "")

    def node_lost(self, node: Node, *, seconds: float | None, dead: bool) -> None:
        """Make a node unreachable for some seconds, or (None) permanently; `dead`: its containers end."""
        node.reaches = False
        after = self._world.event_queue.after
        if dead:
            node.runs = False
            for executor in self._on(node):
                if executor.runs:
                    executor.ends_for(Cause.NODE_LOST)
                    executor.ends_for(Cause.UNKNOWN)
                    self.ends(executor, 5.0, 20.0)
                    executor.unreported = lambda pod: nodes.ended(pod, 255, "Unknown")
        after(NOT_READY_AFTER, lambda: self._not_ready(node))
        after(TAINTED_AFTER, lambda: self._tainted(node))
        if seconds is None:
            node.there = False
            after(COLLECTED_AFTER, lambda: self._collect(node))
        else:
            after(seconds, lambda: self.node_back(node))

    def _on(self, node: Node) -> list[Executor]:
        return [
            executor
            for executor in self.executors.values()
            if (pod := self.pod(executor)) is not None and pod["spec"].get("nodeName") == node.name
        ]

    def _not_ready(self, node: Node) -> None:
        for executor in self._on(node):
            pod = self.pod(executor)
            if not node.reaches and pod is not None and pod["status"]["phase"] == "Running":
                executor.ends_for(Cause.NODE_LOST)  # if it vanishes now, no other cause can be known
                self._world.server.put("MODIFIED", nodes.running(pod, ready=False))

    def _tainted(self, node: Node) -> None:
        for executor in self._on(node):
            if not node.reaches:
                executor.ends_for(Cause.NODE_LOST)
                self.disrupt(executor, Cause.EVICTED, "DeletionByTaintManager")

    def _collect(self, node: Node) -> None:
        for executor in self._on(node):
            pod = self.pod(executor)
            if pod is not None:
                executor.ends_for(Cause.NODE_LOST)
                pod = self._world.server.put("MODIFIED", nodes.failed_by_gc(pod))
                self._world.server.mark_deleted(pod, forced=True)

    def node_back(self, node: Node) -> None:
        """Make a node reachable again: its kubelet reports what happened, and carries out deletions."""
        node.reaches = node.runs = True
        for executor in self._on(node):
            pod = self.pod(executor)
            if pod is None:
                continue
            change, executor.unreported = executor.unreported, None
            if change is not None:
                self._write(executor, change)
            elif pod["metadata"].get("deletionTimestamp"):
                if executor.runs:
                    self._told_to_end(executor)
                else:
                    self._world.server.put("DELETED", pod)
            elif executor.runs and pod["status"]["phase"] == "Running":
                self._world.server.put("MODIFIED", nodes.running(pod))
        self._kill_unknown(node)

    def _kill_unknown(self, node: Node) -> None:
        """End the containers whose pods no longer exist, as the kubelet does."""
        for executor in self.running():
            if executor.host == node.name and self.pod(executor) is None:
                self.ends(executor, 0.05, 0.5)
