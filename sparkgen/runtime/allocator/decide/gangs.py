"""Gangs of Kubernetes: who is a member, how many members are missing, and who can never get a node. Pure.

Members are executors of the default profile whose pods name the attempt's PodGroup. The scheduler gives nodes
to all of them together, or to none. It counts the pods that exist now, not those that ever existed.
"""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.observed import ExecutorState, ObservedExecutor

STRANDED = "its gang can no longer be complete"
"""The reason for removing a member that waits for members which nobody wants."""


def waits(situation: Situation) -> bool:
    """Whether executors that are created now are members of the gang.

    As soon as one of this driver's executors has a node, later ones are not members: with few members left,
    they would wait for members that nobody wants. They are not members either if the gang, together with
    executors that wait for a node on their own, is more than are wanted, or more than the gates let wait for
    nodes.
    """
    settings = situation.settings
    if not settings.gang:
        return False
    alone = 0
    for seen in _own(situation):
        if seen.node:
            return False
        alone += not seen.gang
    pending = settings.max_unschedulable if settings.max_pending is None else settings.max_pending
    room = min(situation.wanted().get(0, 0), settings.max_unschedulable, pending)
    return settings.gang + alone <= room


def lacking(situation: Situation) -> int:
    """How many more members must exist before any of them gets a node: no gate may hold these back."""
    return max(0, situation.settings.gang - _members(situation)) if waits(situation) else 0


def stranded(situation: Situation) -> frozenset[int]:
    """The members without a node that can never get one, because too few members will exist.

    An executor that was requested and is not shown yet counts as a member, because it may be one.
    """
    gang = situation.settings.gang
    if not gang or situation.awaited:
        return frozenset()
    waiting = [seen.id for seen in situation.observed(ExecutorState.PENDING) if seen.gang and not seen.node]
    if not waiting or (situation.wanted().get(0, 0) >= gang and _may_be_complete(situation)):
        return frozenset()
    return frozenset(waiting)


def _may_be_complete(situation: Situation) -> bool:
    return waits(situation) or _members(situation) >= situation.settings.gang


def _members(situation: Situation) -> int:
    requested = situation.counts[ExecutorState.REQUESTED][0]
    return requested + sum(seen.gang for seen in _own(situation))


def _own(situation: Situation) -> Iterator[ObservedExecutor]:
    """The driver's executors of the default profile that the cluster shows and that are not leaving."""
    states = (ExecutorState.REGISTERED, ExecutorState.RUNNING, ExecutorState.PENDING)
    shown = situation.snapshot.executors
    for id_ in (id_ for state in states for id_ in situation.sets[state]):
        if id_ in shown and shown[id_].profile == 0:
            yield shown[id_]
