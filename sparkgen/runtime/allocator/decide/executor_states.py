"""The state of each executor, from the snapshot, the target and the memory: one table (`states`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace

from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest
from sparkgen.runtime.allocator.values.observed import ExecutorState, ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

NONE: Counter[int] = Counter()
ACTIVE = frozenset(
    {ExecutorState.REQUESTED, ExecutorState.PENDING, ExecutorState.RUNNING, ExecutorState.REGISTERED}
)
"""The states that count towards the target; a draining executor does not."""


@dataclass(frozen=True, slots=True)
class Situation:
    """All facts for a decision, and the state of every executor."""

    snapshot: Snapshot
    target: DriverTarget
    memory: AllocatorMemory
    settings: AllocationSettings
    now: float
    sets: Mapping[ExecutorState, Set[int]]
    """The executors in each state. Each executor that is shown, requested or named by the driver is in
    one."""
    profiles: Mapping[int, int]
    """The resource profile of each executor; 0 if it is not known."""
    counts: Mapping[ExecutorState, Counter[int]]
    """The number of executors in each state, per profile."""

    @property
    def awaited(self) -> bool:
        """Whether the driver must report its target again, because the allocator or the driver restarted."""
        return self.target.away or (self.target.phase is DriverPhase.SILENT and bool(self.memory.session))

    def those(self, *states: ExecutorState) -> Set[int]:
        """The executors in these states."""
        found = [self.sets[state] for state in states if self.sets[state]]
        return found[0] if len(found) == 1 else frozenset().union(*found)

    def ids(self, *states: ExecutorState) -> list[int]:
        """The executors in these states, sorted by id."""
        return sorted(self.those(*states))

    def count(self, *states: ExecutorState) -> int:
        """How many executors are in these states."""
        return sum(len(self.sets[state]) for state in states)

    def active(self) -> Counter[int]:
        """How many executors count towards the target, per profile."""
        total: Counter[int] = Counter()
        for state in ACTIVE:
            if self.counts[state]:
                total.update(self.counts[state])
        return total

    def wanted(self) -> dict[int, int]:
        """How many executors there should be, per profile, within the maximum that holds now."""
        return wanted(self.target, self.settings)

    def observed(self, *states: ExecutorState) -> Iterator[ObservedExecutor]:
        """The pods of the executors in these states that the cluster shows, sorted by id."""
        executors = self.snapshot.executors
        return (executors[id_] for id_ in self.ids(*states) if id_ in executors)


def situation(
    snapshot: Snapshot,
    target: DriverTarget,
    memory: AllocatorMemory,
    settings: AllocationSettings,
    now: float,
) -> Situation:
    """The situation at `now`."""
    unseen = (memory.requests.keys() | named_by_driver(target)) - snapshot.executors.keys()
    # Of an executor that only Spark has named so far, the profile is not known: count it as profile 0.
    profiles = dict.fromkeys(unseen, 0)
    profiles |= {id_: request.profile for id_, request in memory.requests.items()}
    profiles |= {id_: seen.profile for id_, seen in snapshot.executors.items()}
    found = states(unseen, snapshot, target, memory)
    counts = {state: Counter(map(profiles.__getitem__, ids)) if ids else NONE for state, ids in found.items()}
    return Situation(snapshot, target, memory, settings, now, found, profiles, counts)


def listed_after(snapshot: Snapshot, time: float) -> bool:
    """Whether a whole list was requested after `time`, and no change has been missed since."""
    return snapshot.complete and snapshot.listed_at is not None and snapshot.listed_at > time


def without_former_pods(snapshot: Snapshot, memory: AllocatorMemory) -> Snapshot:
    """Returns the snapshot without former pods: earlier pods of a name that was requested again.

    A creation without an answer is repeated under the same name. If the first pod has already ended and no
    longer exists, the second request creates another pod. A late watch may then report the end of the first
    pod while the second one runs; the second one has not ended. The server's answer to the creation has the
    UID of the right pod. Until it arrives, an observed end may belong to either pod.
    """
    former = {
        id_
        for id_, request in memory.requests.items()
        for seen in (snapshot.executors.get(id_) or snapshot.vanished.get(id_),)
        if seen is not None and _is_former(seen, request, gone=id_ not in snapshot.executors)
    }
    if not former:
        return snapshot
    executors = {id_: seen for id_, seen in snapshot.executors.items() if id_ not in former}
    vanished = {id_: seen for id_, seen in snapshot.vanished.items() if id_ not in former}
    return replace(snapshot, executors=executors, vanished=vanished)


def _is_former(seen: ObservedExecutor, request: CreateRequest, *, gone: bool) -> bool:
    if request.uid:
        return seen.uid != request.uid
    return request.accepted is None and request.tries > 1 and (gone or ended(seen))


def named_by_driver(target: DriverTarget) -> frozenset[int]:
    """The executors that the driver names, and whose end must be reported to it."""
    return target.registered | target.lost | target.kills | target.draining


def states(
    unseen: Set[int], snapshot: Snapshot, target: DriverTarget, memory: AllocatorMemory
) -> dict[ExecutorState, Set[int]]:
    """The executors in each state: the first line of this table that applies.

    gone        its pod has ended; or a whole list does not show it, and no request for it is left
    draining    Spark or the allocator wants it gone, or its pod is being deleted
    registered  the driver reports it as registered
    requested   the cluster does not show its pod
    pending     its pod is pending
    running     its pod runs

    Computed with set operations, not executor by executor: ten thousand executors take milliseconds.
    """
    executors, registered = snapshot.executors, target.registered
    ids = executors.keys() | unseen
    gone: set[int] = {id_ for id_, seen in executors.items() if ended(seen)}
    if snapshot.complete:
        gone |= unseen - memory.requests.keys()
    deleting = {id_ for id_, seen in executors.items() if seen.deleting}
    draining = (ids & (_leaving(target, memory) | deleting)) - gone
    if memory.first_id > 1:
        draining |= {id_ for id_ in ids if id_ < memory.first_id} - gone
    rest = ids - gone - draining
    others = rest - registered
    pending = {id_ for id_ in others - unseen if executors[id_].phase is PodPhase.PENDING}
    return {
        ExecutorState.PLANNED: frozenset(),
        ExecutorState.GONE: gone,
        ExecutorState.DRAINING: draining,
        ExecutorState.REGISTERED: rest & registered,
        ExecutorState.REQUESTED: others & unseen,
        ExecutorState.PENDING: pending,
        ExecutorState.RUNNING: others - unseen - pending,
    }


def ended(seen: ObservedExecutor) -> bool:
    """Whether the pod has ended, and will never run again."""
    return seen.loss is not None or seen.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)


def _leaving(target: DriverTarget, memory: AllocatorMemory) -> frozenset[int]:
    """Executors that Spark or the allocator wants gone."""
    return target.kills.union(target.draining, target.lost, target.refused, memory.removals)


def wanted(target: DriverTarget, settings: AllocationSettings) -> dict[int, int]:
    """Executors per profile: Spark's target, within the maximum of all profiles together; none while held."""
    most = 0 if settings.hold else ceiling.maximum(settings)
    return ceiling.shared(ceiling.asked(target, settings), most)
