"""Which nodes new executors should prefer: those with the data of waiting tasks. Pure.

The driver reports how many tasks would be local on each host (`hostTasks`). Executors are distributed over
the nodes in proportion, minus the executors that are already there; the next executor prefers the node that
lacks most. It is only a preference: no executor waits for it, and a host that is no node is never chosen. So
the worst that false reports by user code can cause is a worse place.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparkgen.runtime.addresses import plain_address
from sparkgen.runtime.allocator.decide.executor_states import ACTIVE, Situation
from sparkgen.runtime.allocator.values.actions import NodeWish
from sparkgen.runtime.allocator.values.observed import ObservedExecutor

MAX_HOSTS = 1000
"""How many hosts, those with the most tasks, are considered: more than an application has executors."""
MAX_WISHES = 10
"""The most wishes of one pod. The scheduler checks each of them on each node that it considers."""
GREATEST_WEIGHT = 50
"""Out of 100: a node to avoid, and the document's own preferences, may weigh more."""

_ADDRESS = re.compile(r"[0-9.]+|[^:\n]*+:.*")
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_PART = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NODE_NAME = re.compile(rf"(?=.{{1,253}}\Z){_PART}(\.{_PART})*")


@dataclass(slots=True)
class _Place:
    """A node as far as it is known: its tasks, and the names by which a pod may prefer it."""

    tasks: int = 0
    node: str = ""
    """The node's name, if it is known for certain."""
    hostnames: tuple[str, ...] = ()

    def wish(self, weight: int) -> NodeWish:
        return NodeWish(weight, node=self.node) if self.node else NodeWish(weight, hostnames=self.hostnames)


def key_of(name: str) -> str:
    """The key for comparing nodes and hosts of data: the first label, in lower case; of an address, all."""
    return plain_address(name) if is_address(name) else name.partition(".")[0].lower()


def is_address(host: str) -> bool:
    """Whether a host is an IP address, which has no label to compare."""
    return bool(_ADDRESS.fullmatch(host))


def wishes(situation: Situation, profile: int, count: int) -> list[tuple[NodeWish, ...]]:
    """The wishes of the next `count` executors of a profile, in the order in which they are created."""
    tasks = situation.target.host_tasks.get(profile)
    if not tasks or not situation.settings.locality:
        return [()] * count
    places = _places(situation, tasks)
    lacking = _lacking(situation, profile, places)
    if not lacking:
        return [()] * count
    return _dealt(places, lacking, _without_node(situation, profile), count)


def _places(situation: Situation, tasks: Mapping[str, int]) -> dict[str, _Place]:
    """The nodes of the hosts that have tasks. Leaves out addresses that belong to no known node."""
    document = {plain_address(host.lower()): node for host, node in situation.settings.data_hosts}
    seen = (*situation.snapshot.executors.values(), *situation.snapshot.vanished.values())
    nodes = {key_of(one.node): one.node for one in seen if one.node}
    addresses = {key_of(one.node_address): one.node for one in seen if one.node_address and one.node}
    places: dict[str, _Place] = {}
    for host, number in heapq.nlargest(MAX_HOSTS, tasks.items(), key=lambda item: (item[1], item[0])):
        key = key_of(host)
        named = document.get(host.lower()) or document.get(key) or addresses.get(key) or nodes.get(key, "")
        if named and not _NODE_NAME.fullmatch(named):
            named = ""
        if number <= 0 or (not named and is_address(host)):
            continue
        hostnames = tuple(name for name in dict.fromkeys((host, key)) if _LABEL_VALUE.fullmatch(name))
        if not named and not hostnames:
            continue
        place = places.setdefault(key_of(named) if named else key, _Place())
        place.tasks += number
        place.node = place.node or named
        place.hostnames = place.hostnames or hostnames
    avoided = situation.memory.unusable
    return {key: place for key, place in places.items() if place.node not in avoided}


def _lacking(situation: Situation, profile: int, places: Mapping[str, _Place]) -> dict[str, float]:
    """How many executors each node lacks: its share of the wanted ones, but not more than its tasks need."""
    total = sum(place.tasks for place in places.values())
    wanted = situation.wanted().get(profile, 0)
    described = situation.target.profiles.get(profile)
    cores = max(1, described.cores if described else 1)
    there = Counter(key_of(one.node) for one in _executors(situation, profile) if one.node)
    return {
        key: min(wanted * place.tasks / total, math.ceil(place.tasks / cores)) - there[key]
        for key, place in places.items()
    }


def _executors(situation: Situation, profile: int) -> Iterable[ObservedExecutor]:
    return (one for one in situation.observed(*ACTIVE) if one.profile == profile)


def _without_node(situation: Situation, profile: int) -> int:
    """How many executors have no node yet. Each is expected on the node that lacked most at its creation."""
    seen = situation.snapshot.executors
    return sum(
        1
        for id_ in situation.those(*ACTIVE)
        if situation.profiles[id_] == profile
        and id_ not in situation.target.registered
        and not (id_ in seen and seen[id_].node)
    )


def _dealt(
    places: Mapping[str, _Place], lacking: Mapping[str, float], before: int, count: int
) -> list[tuple[NodeWish, ...]]:
    """Distributes executors, each to the node that lacks most; returns the wishes of those after `before`."""
    heap = [(-lack, key) for key, lack in lacking.items()]
    heapq.heapify(heap)
    result = []
    for number in range(before + count):
        if number >= before:
            result.append(_ranked(places, heap))
        lack, key = heap[0]
        if lack >= 0:  # no node lacks an executor, and later steps do not change that
            return result + [()] * (before + count - number - 1 if number >= before else count)
        heapq.heapreplace(heap, (lack + 1, key))
    return result


def _ranked(places: Mapping[str, _Place], heap: list[tuple[float, str]]) -> tuple[NodeWish, ...]:
    """The wishes for the nodes that lack most, weighted by how much they lack."""
    first = [(-lack, key) for lack, key in heapq.nsmallest(MAX_WISHES, heap) if lack < 0]
    return tuple(places[key].wish(max(1, round(GREATEST_WEIGHT * lack / first[0][0]))) for lack, key in first)
