"""The driver with the scheduler jar, as the allocator sees it through the protocol (docs/design/protocol.md).

A model of images/scheduler (DriverState, StateSlot, Sender, ReportPoller, Losses) and of Spark's calls to it.
The JVM's threads are events here. One object is one session: a driver that restarts is another object.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from simulator.active_faults import ActiveFaults
from simulator.cluster import Cluster, Executor
from simulator.event_queue import EventQueue
from simulator.invariants.hooks import Invariants
from simulator.schedule import FaultKind, Schedule
from sparkgen import contract
from sparkgen.resources import batch
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.mailbox import DriverMailbox
from sparkgen.runtime.allocator.values.settings import AllocationSettings

HEARTBEAT = 10.0
"""Seconds after which an unchanged state is sent again (Sender)."""
POLL = 20.0
"""Seconds that a request for the report waits (ReportPoller)."""
VERDICT = 15.0
"""Seconds after which the driver stops waiting for the cause of a loss (spark.sparkgen.verdictTimeout)."""
LIE = 100_000
"""Executors of each profile that user code requests when it impersonates the driver."""
HOSTS = ("node-1", "NODE-2.hdfs.example", "node-3", "node-of-yesterday", "10.9.9.9", "no node")
"""Hosts on which tasks would be local: nodes, also by other names, and hosts that are no nodes."""
IDLE = 3.0
"""Seconds between two checks of the allocation manager for idle executors."""
NEEDS = {"cores": 1, "memoryMiB": 1024, "overheadMiB": 384, "pysparkMiB": 0, "offHeapMiB": 0, "resources": {}}


FIRST_SESSION = "session-1"


class ExecutorStatus(enum.Enum):
    """The status of an executor in the driver (DriverState.scala)."""

    REGISTERED = "registered"
    LOST = "lost"
    KILLED = "kills"
    DRAINING = "draining"
    REFUSED = "refused"


@dataclass(slots=True)
class DriverState:
    """The state that the driver sends to the allocator."""

    targets: dict[int, int]
    statuses: dict[int, ExecutorStatus] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    stopped: bool = False

    def ids(self, status: ExecutorStatus) -> list[int]:
        """The ids with this status."""
        return sorted(id_ for id_, found in self.statuses.items() if found is status)


class AllocatorBeside(Protocol):
    """The part of the allocator that the driver uses."""

    @property
    def alive(self) -> bool:
        """Whether its process exists."""
        ...

    @property
    def mailbox(self) -> DriverMailbox:
        """The mailbox with its report."""
        ...


class DriverSurroundings(Protocol):
    """The part of the world that the driver uses."""

    schedule: Schedule
    settings: AllocationSettings
    event_queue: EventQueue
    active_faults: ActiveFaults
    cluster: Cluster
    invariants: Invariants

    @property
    def process(self) -> AllocatorBeside | None:
        """The running allocator; None between two."""
        ...

    def note(self, who: str, text: str) -> None:
        """Write a line of the timeline."""
        ...

    def executors_there(self) -> list[Executor]:
        """The executors whose pods exist, in any state."""
        ...

    def hears(self, body: Mapping[str, Any]) -> None:
        """Deliver a state of the driver to the allocator."""
        ...


class Driver:
    """One session of the driver. `number`: its number in the pod, from 1."""

    def __init__(
        self, world: DriverSurroundings, number: int, application_id: str, targets: dict[int, int]
    ) -> None:
        self.number = number
        self.session = f"session-{number}"
        self.application_id = application_id
        self.runs = True
        self.hangs_until = 0.0
        self.state = DriverState(targets)
        self.failure = ""
        """The allocator's reason for stopping the driver, or ""."""
        self.wanted = dict(targets)
        """Spark's target, before the bounds are applied."""
        self.asked: set[int] = set()
        """The executors that Spark asked to exit."""
        self.uids: dict[int, Executor] = {}
        """Id -> the executor that has registered with it."""
        self.begun = False
        """Whether Spark has begun to assign tasks (sufficientResourcesRegistered)."""
        self._world = world
        self._random = Random(f"driver {world.schedule.seed} {number}")
        self._hinter = Random(f"hinter {world.schedule.seed} {number}")
        self._hints: dict[str, int] = {}
        self._liar = Random(f"liar {world.schedule.seed} {number}")
        self._revision = 1
        self._acknowledged = 0
        self._sending = False
        self._seen = ""
        self._report: Mapping[str, Any] | None = None
        self._asks = False
        """Whether a request for the report is pending at the allocator."""
        self._question = 0
        self._send()
        self.later(0.1, self._poll)
        self.later(HEARTBEAT, self._heartbeat)
        self.later(IDLE, self._idle)

    @property
    def registered(self) -> set[int]:
        """The ids of the registered executors."""
        return set(self.state.ids(ExecutorStatus.REGISTERED))

    # --- time -----------------------------------------------------------------------------------------

    @property
    def hangs(self) -> bool:
        """Whether the driver is paused now."""
        return self._world.event_queue.now < self.hangs_until

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Call `what` in the driver after some seconds, or after its pause; never once it has ended."""
        self._world.event_queue.after(seconds, lambda: self._now(what))

    def _now(self, what: Callable[[], None]) -> None:
        if not self.runs:
            return
        if self.hangs:
            self._world.event_queue.at(self.hangs_until, lambda: self._now(what))
        else:
            what()

    def _note(self, text: str) -> None:
        self._world.note(f"driver {self.number}", text)

    def _delay(self) -> float:
        return self._random.uniform(0.002, 0.05)

    # --- Spark ----------------------------------------------------------------------------------------

    def wants(self, targets: Mapping[int, int]) -> None:
        """Change Spark's target (doRequestTotalExecutors)."""
        self.wanted = dict(targets)
        self._note(f"wants {dict(targets)}")
        self._bound()

    def _bound(self) -> None:
        """Apply the present bounds to the target (ExecutorBounds)."""
        settings = self._world.settings
        most = 10**6 if settings.maximum is None or not settings.dynamic else settings.maximum
        bounded = {profile: max(settings.minimum, min(count, most)) for profile, count in self.wanted.items()}
        if bounded != self.state.targets:
            self.state.targets = bounded
            self._changed()

    def _idle(self) -> None:
        """Remove executors beyond the target, as Spark's allocation manager does."""
        for profile, count in self.state.targets.items():
            registered = [
                id_ for id_ in self.state.ids(ExecutorStatus.REGISTERED) if self.uids[id_].profile == profile
            ]
            if self._world.schedule.settings.dynamic and len(registered) > count:
                self.kill(registered[count:])
        self.later(IDLE, self._idle)

    def kill(self, ids: list[int]) -> None:
        """Remove executors, as Spark does (doKillExecutors)."""
        self._note(f"removes {ids}")
        for id_ in ids:
            self.asked.add(id_)
            self.state.statuses[id_] = ExecutorStatus.KILLED
            self._world.cluster.told_to_stop(self.uids[id_])
        self._changed()

    def decommission(self, count: int) -> None:
        """Decommission `count` registered executors, as Spark does."""
        for id_ in self.state.ids(ExecutorStatus.REGISTERED)[:count]:
            self._note(f"decommissions {id_}")
            self.asked.add(id_)
            self.state.statuses[id_] = ExecutorStatus.DRAINING
            self._world.cluster.decommissioned(self.uids[id_])
            self._changed()

    def admits(self, executor: Executor) -> bool:
        """Whether an executor may register; if so, it is registered (isExecutorExcluded)."""
        state, id_ = self.state, executor.id
        if not self.runs or state.stopped or id_ in state.ended or id_ in state.statuses:
            self._note(f"does not admit {id_}")
            return False
        self._note(f"registers {id_}")
        state.statuses[id_] = ExecutorStatus.REGISTERED
        self._world.invariants.registers(self, executor)
        self.uids[id_] = executor
        self._look_whether_enough()
        self._changed()
        return True

    def _look_whether_enough(self) -> None:
        """Begin to assign tasks once the required share of the initial executors has registered."""
        schedule = self._world.schedule
        settings, gang = schedule.settings, schedule.begins_with
        initial = max(settings.minimum, settings.initial) if settings.dynamic else settings.instances
        ratio = float(batch.gang_ratio(gang, initial))
        if not self.begun and len(self.registered) >= initial * ratio:
            self.begun = True
            self._note("begins")
            self._world.invariants.begins(self)

    def disconnected(self, id_: int) -> None:
        """Handle the broken connection of an executor (onDisconnected)."""
        self._now(lambda: self._disconnected(id_))

    def _disconnected(self, id_: int) -> None:
        status = self.state.statuses.get(id_)
        if status is ExecutorStatus.DRAINING:
            self.state.statuses[id_] = ExecutorStatus.KILLED
        elif status is ExecutorStatus.REGISTERED:
            self._note(f"loses {id_}")
            self.state.statuses[id_] = ExecutorStatus.LOST
            self.later(VERDICT, lambda: self._give_up(id_))
        else:
            return
        self._changed()

    def _give_up(self, id_: int) -> None:
        if self.state.statuses.get(id_) is ExecutorStatus.LOST:
            self._note(f"gives up on executor {id_}: nobody has said why it was lost")
            self._world.invariants.given_up(self, id_)
            self.state.statuses[id_] = ExecutorStatus.KILLED
            self._changed()

    def stop(self) -> None:
        """Stop Spark's context."""
        self._note("stops")
        self.state.stopped = True
        self._changed()
        for id_ in self.state.ids(ExecutorStatus.REGISTERED):
            self._world.cluster.told_to_stop(self.uids[id_])

    def dies(self) -> None:
        """End the JVM."""
        self._note("ends")
        self.runs = False
        self._world.cluster.driver_is_gone()

    # --- the state for the allocator (Sender) ---------------------------------------------------------

    def body(self) -> dict[str, Any]:
        """The state as the driver sends it."""
        state = self.state
        truth: dict[str, Any] = {
            "version": contract.VERSION,
            "session": self.session,
            "revision": self._revision,
            "phase": "stopped" if state.stopped else "running",
            "applicationId": self.application_id,
            "dynamic": self._world.schedule.settings.dynamic,
            "targets": {str(profile): count for profile, count in state.targets.items()},
            "profiles": {str(profile): NEEDS for profile in state.targets},
            **{status.value: [str(id_) for id_ in state.ids(status)] for status in ExecutorStatus},
        }
        if self._world.active_faults.holds(FaultKind.HINTS):
            truth["hostTasks"] = {str(profile): dict(self._hints) for profile in state.targets}
        return self._lie(truth) if self._world.active_faults.holds(FaultKind.LIES) else truth

    def _lie(self, truth: dict[str, Any]) -> dict[str, Any]:
        """A false state from user code that requests as much as possible; Spark's own statuses stay in it."""
        others = [one.id for one in self._world.executors_there() if one.id not in self.state.statuses]
        called: dict[str, list[str]] = {
            ExecutorStatus.REGISTERED.value: [],
            ExecutorStatus.DRAINING.value: [],
        }
        for id_ in others:
            called[self._liar.choice(tuple(called))].append(str(id_))
        lies = {status: [*truth[status], *ids] for status, ids in called.items()}
        return {**truth, **lies, "targets": dict.fromkeys(truth["targets"], LIE)}

    def hint(self) -> None:
        """Report where tasks would be local, and other hosts every second: nodes, and hosts that are none."""
        if self._world.active_faults.holds(FaultKind.HINTS):
            hosts = self._hinter.sample(HOSTS, self._hinter.randint(0, len(HOSTS)))
            self._hints = {host: self._hinter.randint(1, 20) for host in hosts}
            self.later(1.0, self.hint)
        self._changed()

    def speak(self) -> None:
        """Send the unchanged state again."""
        self._changed()

    def _changed(self) -> None:
        self._revision += 1
        if not self._sending:
            self._sending = True
            self.later(0.005, self._send)

    def _heartbeat(self) -> None:
        if not self._sending:
            self._sending = True
            self._send()
        self.later(HEARTBEAT, self._heartbeat)

    def _send(self) -> None:
        self._sending = True
        body, revision, active_faults = self.body(), self._revision, self._world.active_faults
        process = self._world.process
        lost = active_faults.holds(FaultKind.STATE_LOST) or active_faults.holds(FaultKind.CUT)
        if process is None or not process.alive or lost:
            self.later(self._random.uniform(0.5, 3.0), self._send)
            return
        if active_faults.takes(FaultKind.STATE_LATE):  # times out here, and arrives there after newer states
            late = self._random.uniform(0.5, 10.0)
            self._world.event_queue.after(late, lambda: self._world.hears(body))
            self.later(0.3, self._send)
            return
        self._world.event_queue.after(self._delay(), lambda: self._world.hears(body))
        self.later(0.06, lambda: self._sent(revision))

    def _sent(self, revision: int) -> None:
        self._acknowledged = revision
        self._sending = False
        if self._revision > revision:
            self._sending = True
            self._send()

    # --- the allocator's report (ReportPoller) --------------------------------------------------------

    def _poll(self) -> None:
        self._question += 1
        question = self._question
        self._asks = True
        self.later(POLL, lambda: self._no_news(question))
        self.look()

    def look(self) -> None:
        """Take the report, if there is a new one and a request for it is pending."""
        process, active_faults = self._world.process, self._world.active_faults
        if not self._asks or not self.runs or self.hangs:
            return
        if process is None or not process.alive or active_faults.holds(FaultKind.CUT):
            self._missed()
            return
        found = process.mailbox.report(self.session, self._seen, 0.0)
        if found is None:
            return
        self._asks = False
        if active_faults.holds(FaultKind.REPORT_LOST):
            self._missed()
            return
        tag, report = found
        body = protocol.report_body(report, tag)
        self.later(self._delay(), lambda: self._received(body))

    def _missed(self) -> None:
        """Send the state again, because the allocator may be a new process that lacks it; then poll again."""
        self._asks = False
        if not self._sending:
            self._sending = True
            self.later(0.05, self._send)
        self.later(self._random.uniform(0.5, 2.0), self._poll)

    def _no_news(self, question: int) -> None:
        if self._asks and question == self._question:
            self._asks = False
            if self._report is not None:
                self._follow(self._report)
            self._poll()

    def _received(self, body: Mapping[str, Any]) -> None:
        self._seen, self._report = str(body["tag"]), body
        self.failure = body["failure"] or ""
        self._follow(body)
        self._poll()

    def _follow(self, body: Mapping[str, Any]) -> None:
        state = self.state
        before = (dict(state.statuses), len(state.ended))
        for text, loss in body["gone"].items():
            id_ = int(text)
            status = state.statuses.get(id_)
            if status is None or status is ExecutorStatus.REFUSED:
                continue
            self._note(f"is told that executor {id_} is gone: {loss['cause']}: {loss['message']}")
            self._world.invariants.told(self, id_, status, loss)
            del state.statuses[id_]
            state.ended.add(id_)
        refuse = {int(text) for text in body["refuse"]}
        self._refuse(refuse)
        self._bound()
        if body.get("hold"):
            self.decommission(len(state.ids(ExecutorStatus.REGISTERED)))
        if (dict(state.statuses), len(state.ended)) != before:
            self._changed()

    def _refuse(self, asked: set[int]) -> None:
        state = self.state
        for id_ in set(state.ids(ExecutorStatus.REFUSED)) - asked:
            del state.statuses[id_]
            state.ended.add(id_)
        for id_ in asked - set(state.statuses):
            state.statuses[id_] = ExecutorStatus.REFUSED
            self._world.invariants.refuses(self, id_)
        state.ended -= asked
