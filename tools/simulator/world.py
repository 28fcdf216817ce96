"""Plays one schedule: a driver's pod, its allocator, a cluster around them, and faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from simulator.active_faults import ActiveFaults
from simulator.apiserver import ApiServer, Change, Rules
from simulator.cluster import Cluster, Executor
from simulator.driver import Driver, ExecutorStatus
from simulator.event_queue import EventQueue
from simulator.invariants.hooks import InvariantBroken, Invariants
from simulator.network import Network
from simulator.process import SWEEP, AllocatorProcess, Killed, Volume
from simulator.schedule import FaultKind, InjectedFault, Schedule, TargetChange
from simulator.sessions import People
from simulator.template import attempt, driver_pod
from simulator.watch_client import WatchClient
from sparkgen.runtime.allocator import shutdown
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.mailbox import StartAnswer
from sparkgen.runtime.allocator.values.settings import AllocationSettings

JVM = 3.0
"""Seconds until the driver's JVM has started."""
SETTLE = 600.0
"""Seconds without faults within which the target has to be reached."""
STEADY = 8.0
"""Seconds for which it has to stay reached."""
QUIET = 25.0
"""Seconds after that in which the allocator must not write or list."""
KILLED_AFTER = 30.0
"""Seconds from SIGTERM to SIGKILL."""
AFTER_THE_END = 120.0
"""Seconds after the deletion of the driver's pod after which no object of the attempt may be left."""
DENIED = {
    FaultKind.WEBHOOK: (403, "Forbidden", 'admission webhook "policy.example" denied the request: not now'),
    FaultKind.NO_RIGHT: (403, "Forbidden", 'pods is forbidden: User "sa" cannot create resource "pods"'),
}


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One line of the timeline; `at` in seconds of virtual time."""

    at: float
    who: str
    text: str

    def __str__(self) -> str:
        return f"{self.at:9.3f}  {self.who:<12}  {self.text}"


def most_executors(settings: AllocationSettings) -> int:
    """The maximum of all profiles together, from the settings; schedules always have one."""
    most = settings.maximum if settings.dynamic else settings.instances
    return 10**6 if most is None else most


Injections = Mapping[FaultKind, Callable[["World", InjectedFault], None]]


class World:
    """The whole simulation. `process`: the running allocator; `driver`: the running driver; None between two.

    `watch`: creates the invariants that check it. `injections`: the immediate effect of each fault.
    `neighbour`: another world on the same nodes and with the same time; its pods and its allocator are in
    another namespace.
    """

    def __init__(
        self,
        schedule: Schedule,
        watch: Callable[[World], Invariants],
        injections: Injections,
        *,
        verbose: bool = False,
        neighbour: World | None = None,
    ) -> None:
        self.schedule = schedule
        self.verbose = verbose
        self.settings = schedule.settings
        self.timeline: list[TimelineEntry] = [] if neighbour is None else neighbour.timeline
        self.event_queue: EventQueue = EventQueue() if neighbour is None else neighbour.event_queue
        self.random = Random(f"world {schedule.seed}")
        self.active_faults = ActiveFaults(self.event_queue, self.note)
        self.server = ApiServer(self._changed)
        self.network = Network(self.event_queue, self.server, self.active_faults, self.random)
        self.invariants = watch(self)
        self.cluster = Cluster(self)
        if neighbour is not None:
            self.cluster.neighbours.append(neighbour.cluster)
            neighbour.cluster.neighbours.append(self.cluster)
        self.attempt = attempt()
        self.server.driver_pod = driver_pod(self.attempt, "running")
        self.volume = Volume(self.attempt.application_id)
        self.process: AllocatorProcess | None = None
        self.driver: Driver | None = None
        self.people = None if schedule.sessions is None else People(self, schedule.sessions)
        """The drivers that come and go, and their command; None if the pod has its own driver."""
        self.drivers = 1
        """The number of the pod's driver that runs, or starts next, from 1."""
        self.swept_at = 0.0
        """The time at which the allocator's sweep, or the end of its session, started."""
        self.over = False
        """Whether the driver's pod ends: no allocator is started any more."""
        self._swept_all = False
        self._processes = 0
        self._injections = injections

    def note(self, who: str, text: str) -> None:
        """Write a line of the timeline."""
        self.timeline.append(TimelineEntry(self.event_queue.now, who, text))

    # --- from the start to the end --------------------------------------------------------------------

    def run(self) -> None:
        """Play the schedule, and check every invariant."""
        self.begin()
        self.event_queue.run_until(self.schedule.calm_at)
        self.calm()
        if self.active_faults.left[FaultKind.NO_FILES]:
            self._settle_without_files()
        elif not self.over:
            self._settle()
        self.end()

    def begin(self) -> None:
        """Start the driver's pod, and queue all events of the schedule."""
        schedule, at = self.schedule, self.event_queue.at
        self._begin_process()
        if self.people is None:
            at(JVM, self._begin_driver)
        else:
            self.people.begin()
        self.event_queue.after(1.0, self.network.bookmark)
        for target_change in schedule.target_changes:
            at(target_change.at, partial(self._change_target, target_change))
        for settings_change in schedule.settings_changes:
            at(settings_change.at, partial(self._change_settings, settings_change.settings))
        for fault in schedule.faults:
            at(fault.at, partial(self._inject, fault))

    def end(self) -> None:
        """End the driver, then its pod, and check each time what is left."""
        if self.people is None or self.people.plan.notebook:
            self._end()
        else:
            self._end_session(self.people)
        self._delete_pod()

    def calm(self) -> None:
        """End all faults, and repair the nodes."""
        self.note("fault", "none from here on")
        self.active_faults.calm()
        self._rule()
        if self.process is not None:
            self.process.crash_in = -1
        for node in tuple(self.cluster.nodes.values()):
            if not node.there:
                self.cluster.add_node()
            elif not node.takes:
                self.cluster.node_back(node)

    def _settle(self) -> None:
        """Wait until the target is reached and stays reached; then check that the allocator is quiet."""
        deadline, since = self.event_queue.now + SETTLE, None
        while since is None or self.event_queue.now - since < STEADY:
            if self.over:  # the session ended, because driver and command were gone
                return
            if self.event_queue.now > deadline:
                raise InvariantBroken("target-reached", self.what_is_missing())
            self.event_queue.run_until(self.event_queue.now + 2.0)
            if self.what_is_missing():
                since = None
            elif since is None:
                since = self.event_queue.now
        self.note("world", "the target is reached")
        self.invariants.begins_quiet()
        self.event_queue.run_until(self.event_queue.now + QUIET)
        self.invariants.ends_quiet()

    def _settle_without_files(self) -> None:
        """Wait until the application fails, or has all executors that it needs."""
        deadline = self.event_queue.now + SETTLE
        while self.event_queue.now < deadline:
            everybody = self.driver is not None and self.process is not None
            if everybody and (self.has_failed or not self.what_is_missing()):
                break
            self.event_queue.run_until(self.event_queue.now + 2.0)
        self.note("world", "the application fails" if self.has_failed else "the application goes on")
        self.invariants.without_files()

    @property
    def has_failed(self) -> bool:
        """Whether the driver was told that its application has failed."""
        return self.driver is not None and bool(self.driver.failure)

    def _end(self) -> None:
        """End the driver, then the allocator, and check what is left."""
        self.over = True
        if self.people is not None:
            self.people.ended = True
        driver, process = self.driver, self.process
        if driver is None or process is None:
            raise InvariantBroken("target-reached", "there is no driver, or no allocator")
        if self.schedule.ends_cleanly:
            driver.stop()
            self.event_queue.run_until(self.event_queue.now + 2.0)
        driver.dies()
        self.driver = None
        if self.schedule.away_at_the_end:
            self._away_at_the_end()
        self.driver_container("terminated", 0.8)
        swept_all = self._sweep(process)
        self.event_queue.run_until(self.event_queue.now + 40.0)
        self.invariants.after_sweep(swept_all=swept_all)

    def _end_session(self, people: People) -> None:
        """End driver and command, and check that the allocator then deletes everything itself."""
        if self.schedule.away_at_the_end:
            self._away_at_the_end()
        people.end()
        self.invariants.all_gone()
        self.invariants.after_sweep(swept_all=self._swept_all)

    def _away_at_the_end(self) -> None:
        self.note("fault", FaultKind.AWAY.value)
        self.active_faults.until[FaultKind.AWAY] = self.event_queue.now + 300.0
        self.network.cut()

    def session_ends(self, process: AllocatorProcess) -> None:
        """Answer the driver's pending request for a report, which tells it that its session ends."""
        self.swept_at = self.event_queue.now
        if self.driver is not None:
            self.driver.later(0.0, self.driver.look)

    def session_over(self, swept: shutdown.SweepResult) -> None:
        """Record that the allocator ends, and is not started again."""
        self.over, self._swept_all = True, swept.left == frozenset()

    def _delete_pod(self) -> None:
        self.active_faults.until.clear()
        self.note("world", "the driver's pod is deleted")
        self.server.driver_pod = None
        self._collect()
        self.event_queue.run_until(self.event_queue.now + AFTER_THE_END)
        self.invariants.at_the_end()

    def _sweep(self, process: AllocatorProcess) -> bool:
        self.swept_at = self.event_queue.now
        self._kill_later(process)
        try:
            return process.told_to_end(SWEEP)
        except Killed:
            return False

    def tell_to_end(self, process: AllocatorProcess) -> None:
        """Restart the allocator's container, as the kubelet does after a failed probe: first by SIGTERM."""
        self._kill_later(process)
        process.now(lambda: process.told_to_end(SWEEP))  # type: ignore[arg-type]

    def tell_allocator_to_end(self) -> None:
        """Send SIGTERM to the running allocator, as the kubelet does to end the pod or its container."""
        if self.process is not None:
            self.tell_to_end(self.process)

    @property
    def application_id(self) -> str:
        """The application id of the next driver."""
        return self.volume.application_id

    def _kill_later(self, process: AllocatorProcess) -> None:
        self.note(f"allocator {process.number}", "is told to end")
        self.event_queue.after(KILLED_AFTER, lambda: process.die("is killed") if process.alive else None)

    def _collect(self) -> None:
        """Delete the objects that the driver's pod owns every five seconds, as the garbage collector does."""
        self.server.collect(self.attempt.pod_uid)
        self.event_queue.after(5.0, self._collect)

    # --- the driver's pod -----------------------------------------------------------------------------

    def _begin_process(self) -> None:
        if self.over:
            return
        self._processes += 1
        self.note(f"allocator {self._processes}", "starts")
        self.process = AllocatorProcess(
            self, self._processes, self.attempt, self.volume, partial(WatchClient, network=self.network)
        )

    def allocator_died(self, process: AllocatorProcess) -> None:
        """Restart the container, as the kubelet does; the driver's pending request for a report fails."""
        if self.process is process:
            self.process = None
            self.event_queue.after(self.random.uniform(1.0, 10.0), self._begin_process)
            if self.driver is not None:
                self.driver.later(0.01, self.driver.look)

    def _begin_driver(self) -> None:
        if self.over:
            return
        targets, application_id = self.first_targets(), self.volume.application_id
        self.note(f"driver {self.drivers}", f"starts as {application_id}, and wants {targets}")
        self.driver = Driver(self, self.drivers, application_id, targets)

    def first_targets(self) -> dict[int, int]:
        """The target of a driver that starts now: executors by profile."""
        settings = self.settings
        first = max(settings.minimum, settings.initial) if settings.dynamic else settings.instances
        wanted = [
            target_change.targets
            for target_change in self.schedule.target_changes
            if target_change.at <= self.event_queue.now
        ]
        if not wanted:
            return {0: first}
        return {profile: max(count, settings.minimum) for profile, count in wanted[-1].items()}

    def driver_answers(self) -> bool:
        """Whether the driver's port accepts connections; not while the driver hangs, with a full queue."""
        return self.driver is not None and not self.driver.hangs

    def driver_container(self, state: str, seconds: float) -> None:
        """Write the state of the driver's container after some seconds, as the kubelet does."""
        pod = driver_pod(self.attempt, state)

        def write() -> None:
            self.server.driver_pod = pod

        self.event_queue.after(seconds, write)

    def restart_driver(self) -> None:
        """End the driver's container, and start it again in its pod."""
        if self.driver is None:
            return
        self.driver.dies()
        self.driver = None
        self.drivers += 1
        begins = self.random.uniform(2.0, 6.0)
        # No random numbers here, so that the schedules of existing seeds do not change.
        self.driver_container("terminated", 0.4)
        self.driver_container("running", begins - JVM / 2)
        self.event_queue.after(begins, self._begin_driver)

    def hears(self, body: Mapping[str, Any]) -> None:
        """Deliver a state of the driver to the allocator."""
        process = self.process
        if process is not None:
            process.now(lambda: self._take(process, body))

    def _take(self, process: AllocatorProcess, body: Mapping[str, Any]) -> None:
        if self.people is not None:
            self.people.hears(process, body)
        else:
            process.mailbox.receive(protocol.target_of(body))

    def start_answer(self, id_: int) -> StartAnswer | None:
        """The start answer for an executor; None if no allocator answers."""
        return None if self.process is None else self.process.start_answer(id_)

    def after_round(self, process: AllocatorProcess) -> None:
        """Check the invariants after a round of the allocator."""
        self.invariants.after_round(process, process.before, process.last)
        if self.driver is not None:
            self.driver.later(0.0, self.driver.look)

    def _changed(self, change: Change) -> None:
        _, kind, pod = change
        self.note("api server", f"{kind} {pod['metadata']['name']} ({pod['status']['phase']})")
        self.network.changed(change)
        self.cluster.changed(change)

    # --- the truth ------------------------------------------------------------------------------------

    def executors_there(self) -> list[Executor]:
        """The executors whose pods exist, in any state."""
        return [one for one in self.cluster.executors.values() if self.cluster.pod(one) is not None]

    def is_alive(self, executor: Executor) -> bool:
        """Whether its pod exists and is not being deleted, and its process runs or has not started yet."""
        pod = self.cluster.pod(executor)
        if pod is None or pod["metadata"].get("deletionTimestamp"):
            return False
        return executor.runs or pod["status"]["phase"] == "Pending"

    def what_is_missing(self) -> str:
        """The difference from the wanted state, in words; "" if there is none."""
        driver, process = self.driver, self.process
        if driver is None or process is None or process.last is None:
            return "there is no driver, or no allocator that has made a round"
        others = {
            id_: one.value
            for id_, one in driver.state.statuses.items()
            if one is not ExecutorStatus.REGISTERED
        }
        if others:
            return f"the driver waits for {others}"
        wanted = driver.state.targets if self.settings.dynamic else {0: self.settings.instances}
        total = 0 if self.settings.hold else min(sum(wanted.values()), most_executors(self.settings))
        lowered = (
            bool(self.schedule.settings_changes) and not self.settings.hold and len(driver.registered) > total
        )  # registered executors stay after the maximum was lowered
        if len(driver.registered) != total and not lowered:
            return f"{sorted(driver.registered)} are registered, and {total} are wanted in all"
        for profile, count in wanted.items():
            ids = [id_ for id_ in driver.registered if driver.uids[id_].profile == profile]
            if len(ids) > count:
                return f"{sorted(ids)} are registered, and {count} are wanted of profile {profile}"
        small = sorted(one.id for one in self.cluster.running() if self.cluster.has_too_little_memory(one))
        if small:
            return f"executors with too little memory: {small}"
        more = {one.id for one in self.executors_there()} ^ driver.registered
        if more:
            return f"pods that nobody wants, or executors without one: {sorted(more)}"
        if (
            process.in_flight
            or self.network.on_their_way
            or any(one.is_behind for one in self.network.streams)
        ):
            return "requests are on their way, or the watch is behind"
        seen = process.last.snapshot
        if not seen.complete or set(seen.executors) != driver.registered:
            return f"the allocator sees {sorted(seen.executors)}, and {sorted(driver.registered)} are there"
        return ""

    # --- targets and faults ---------------------------------------------------------------------------

    def _change_target(self, target_change: TargetChange) -> None:
        driver = self.driver
        if driver is not None:
            driver.later(0.0, lambda: driver.wants(target_change.targets))
            if target_change.decommission:
                driver.later(0.0, lambda: driver.decommission(target_change.decommission))

    def want_fewer(self) -> None:
        """Lower Spark's target by one executor of each profile, unless the calm period has begun."""
        driver = self.driver
        if (
            driver is not None
            and self.schedule.settings.dynamic
            and self.event_queue.now < self.schedule.calm_at
        ):
            fewer = {profile: max(0, count - 1) for profile, count in driver.state.targets.items()}
            driver.later(0.0, lambda: driver.wants(fewer))

    def _change_settings(self, settings: Any) -> None:
        self.settings = settings
        if self.process is not None:
            process = self.process
            process.later(1.0, process.mailbox.notify)

    def _rule(self) -> None:
        """Set what the API server refuses now, from the active faults."""
        denied = [answer for kind, answer in DENIED.items() if self.active_faults.holds(kind)]
        quota = len(self.server.pods) if self.active_faults.holds(FaultKind.QUOTA) else None
        self.server.rules = Rules(denied[0] if denied else None, quota)

    def _inject(self, fault: InjectedFault) -> None:
        self.note("fault", str(fault))
        self.active_faults.begins(fault)
        if fault.kind in (FaultKind.QUOTA, *DENIED):
            self._rule()
            self.event_queue.after(fault.amount + 0.001, self._rule)
        act = self._injections.get(fault.kind)
        if act is not None:
            act(self, fault)

    def one_of(self, executors: list[Executor]) -> Executor | None:
        """A random executor of the list; None if it is empty."""
        return self.random.choice(executors) if executors else None
