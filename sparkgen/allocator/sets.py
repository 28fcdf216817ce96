"""Which executor is in which state: one table, from what is seen, wanted and remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sparkgen.allocator.types import (
    DriverPhase,
    Memory,
    Observed,
    Phase,
    Settings,
    Snapshot,
    State,
    Target,
)

ACTIVE = frozenset({State.REQUESTED, State.PENDING, State.RUNNING, State.REGISTERED})
"""The states that count towards the target; a draining executor does not."""


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a decision is made from, and the state of every executor in it."""

    snapshot: Snapshot
    target: Target
    memory: Memory
    settings: Settings
    now: float
    states: Mapping[int, State]
    profiles: Mapping[int, int]
    """The resource profile of every executor in `states`, where it is known."""

    @property
    def awaited(self) -> bool:
        """Whether the driver has to say anew what it wants: this process began anew, or the driver does."""
        return self.target.away or (self.target.phase is DriverPhase.SILENT and bool(self.memory.session))

    def ids(self, *states: State) -> list[int]:
        """The executors in these states, in the order of their ids."""
        return sorted(id_ for id_, state in self.states.items() if state in states)

    def active(self) -> Counter[int]:
        """How many executors count towards the target, per profile."""
        return Counter(self.profiles[id_] for id_ in self.ids(*ACTIVE))

    def wanted(self) -> dict[int, int]:
        """How many executors there should be, per profile, within the bounds that hold now."""
        return wanted(self.target, self.settings)

    def observed(self) -> Iterator[Observed]:
        """The pods that the cluster shows, in the order of their ids."""
        return (self.snapshot.executors[id_] for id_ in sorted(self.snapshot.executors))


def situation(
    snapshot: Snapshot, target: Target, memory: Memory, settings: Settings, now: float
) -> Situation:
    """The situation at `now`."""
    ids = {*snapshot.executors, *memory.requests, *named(target)}
    states = {id_: state_of(id_, snapshot, target, memory) for id_ in ids}
    profiles = {id_: request.profile for id_, request in memory.requests.items()}
    profiles |= {id_: executor.profile for id_, executor in snapshot.executors.items()}
    # An executor that Spark knows and no list has shown yet: counted where nothing else is known.
    profiles |= {id_: 0 for id_ in ids if id_ not in profiles}
    return Situation(snapshot, target, memory, settings, now, states, profiles)


def named(target: Target) -> frozenset[int]:
    """The executors that the driver speaks of, and is to be told of."""
    return target.registered | target.lost | target.kills | target.draining


def state_of(id_: int, snapshot: Snapshot, target: Target, memory: Memory) -> State:
    """The state of one executor: the first line that fits."""
    seen = snapshot.executors.get(id_)
    if seen is not None and ended(seen):
        return State.GONE
    if seen is None and snapshot.complete and id_ not in memory.requests:
        return State.GONE
    if leaving(id_, seen, target, memory):
        return State.DRAINING
    if id_ in target.registered:
        return State.REGISTERED
    if seen is None:
        return State.REQUESTED
    return State.PENDING if seen.phase is Phase.PENDING else State.RUNNING


def ended(seen: Observed) -> bool:
    """Whether the pod will never run again."""
    return seen.loss is not None or seen.phase in (Phase.SUCCEEDED, Phase.FAILED)


def leaving(id_: int, seen: Observed | None, target: Target, memory: Memory) -> bool:
    """Whether an executor that is not gone is on its way out."""
    by_spark = id_ in target.kills or id_ in target.draining or id_ in target.lost
    by_us = id_ in memory.removals or id_ in target.refused or id_ < memory.first_id
    return by_spark or by_us or (seen is not None and seen.deleting)


def wanted(target: Target, settings: Settings) -> dict[int, int]:
    """Executors per profile: Spark's target, within the bounds that hold now.

    Before the driver has spoken it is what Spark will ask for first
    (Utils.getDynamicAllocationInitialExecutors).
    With static allocation `instances` holds as it is now, because Spark never asks again.
    """
    if target.phase is DriverPhase.STOPPED:
        return {}
    if target.phase is DriverPhase.SILENT:
        initial = max(settings.minimum, settings.initial) if settings.dynamic else settings.instances
        return {0: _bounded(initial, settings)}
    if target.dynamic:
        return {profile: _bounded(count, settings) for profile, count in target.executors.items()}
    if settings.dynamic:  # the tuning is of a newer commit than this driver, and says nothing of its kind
        return dict(target.executors)
    return {**target.executors, 0: settings.instances}


def _bounded(count: int, settings: Settings) -> int:
    return count if settings.maximum is None or not settings.dynamic else min(count, settings.maximum)
