"""Laws of where executors are asked for: spread as the tasks, bounded, and wishes alone."""

from __future__ import annotations

import string
from collections import Counter
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.decide.locality import GREATEST_WEIGHT, MAX_WISHES
from sparkgen.runtime.allocator.values.actions import Create, NodeWish
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Rate
from sparkgen.runtime.allocator.values.observed import ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile

NOW = 1000.0
SETTINGS = AllocationSettings(dynamic=True)
TASKS = st.dictionaries(st.sampled_from([f"node-{n}" for n in range(6)]), st.integers(1, 40), min_size=1)


def wants(count: int, tasks: dict[str, int], cores: int = 1) -> DriverTarget:
    """A driver that wants so many executors, with tasks at these hosts."""
    return DriverTarget(
        DriverPhase.RUNNING,
        session="s",
        dynamic=True,
        executors={0: count},
        profiles={0: Profile(cores=cores)},
        host_tasks={0: tasks},
    )


def pending(id_: int, node: str = "") -> ObservedExecutor:
    """An executor's pod, on a node or without one."""
    return ObservedExecutor(id_, 0, f"exec-{id_}", f"uid-{id_}", PodPhase.PENDING, NOW, node=node)


def created(
    target: DriverTarget, pods: list[ObservedExecutor], settings: AllocationSettings = SETTINGS
) -> list[Create]:
    """What is created now beside these pods, by an API server that takes sixteen calls at a time."""
    memory = AllocatorMemory(session="s", next_id=len(pods) + 1, rate=Rate(window=16))
    snapshot = Snapshot(True, {pod.id: pod for pod in pods}, NOW)
    decision = decide(snapshot, target, memory, settings, NOW)
    return [action for action in decision.actions if isinstance(action, Create)]


def first(create: Create) -> str:
    """The node that a pod wishes for most; "" when it wishes for none."""
    wish = max(create.wishes, key=lambda wish: wish.weight, default=NodeWish(0))
    return wish.node or (wish.hostnames[0] if wish.hostnames else "")


@given(TASKS, st.integers(1, 16), st.booleans(), st.integers(1, 4))
def test_the_spread_follows_the_tasks(tasks: dict[str, int], count: int, at_once: bool, cores: int) -> None:
    """On each node within one of its part, whether they are asked for in one decision or one by one."""
    total = sum(tasks.values())
    assume(count * cores <= total)
    pods: list[ObservedExecutor] = []
    while len(pods) < count:
        orders = created(wants(count, tasks, cores), pods)
        pods += [pending(order.id, first(order)) for order in (orders if at_once else orders[:1])]
    there = Counter(pod.node for pod in pods)
    for node, number in tasks.items():
        assert abs(there[node] - count * number / total) <= 1, (there, tasks)


@given(TASKS, st.integers(1, 10), st.integers(0, 6))
def test_executors_on_their_way_count_as_those_that_were_first(
    tasks: dict[str, int], count: int, before: int
) -> None:
    """What has no node yet will be where it wished for: the next one is asked for as if it were there."""
    target = wants(count + before, tasks)
    together = created(target, [])
    pods = [pending(order.id) for order in together[:before]]
    assert [order.wishes for order in created(target, pods)] == [o.wishes for o in together[before:]]


@given(TASKS, st.integers(1, 16), st.integers(1, 4))
def test_no_node_gets_more_than_have_a_task_there(tasks: dict[str, int], count: int, cores: int) -> None:
    """An executor runs as many tasks at a time as it has cores: the rest may be anywhere."""
    wished = Counter(map(first, created(wants(count, tasks, cores), [])))
    for node, number in tasks.items():
        assert wished[node] <= -(-number // cores)


HOSTS = (
    st.text(max_size=300)
    | st.text(string.ascii_letters + string.digits + "-._:/", max_size=70)
    | st.sampled_from(["localhost", "10.0.0.1", "::1", "node-1", "Node-1.example.org", "a" * 64, "-", "."])
)


@given(
    st.dictionaries(HOSTS.filter(bool), st.integers(0, 2**31 - 1), max_size=40),
    st.dictionaries(HOSTS, HOSTS, max_size=5),
    st.lists(st.sampled_from(["", "node-1", "node-2.example.org"]), max_size=8),
    st.integers(1, 12),
)
def test_hints_change_wishes_and_nothing_else(
    tasks: dict[str, int], document: dict[str, str], nodes: list[str], more: int
) -> None:
    """Whatever they say. Without hints, or switched off, no pod has a wish; wishes are valid and few."""
    pods = [pending(number + 1, node) for number, node in enumerate(nodes)]
    target = wants(len(pods) + more, tasks)
    settings = replace(SETTINGS, data_hosts=tuple(sorted(document.items())))
    hinted = created(target, pods, settings)
    plain = created(replace(target, host_tasks={}), pods, settings)
    assert [replace(order, wishes=()) for order in hinted] == plain
    assert created(target, pods, replace(settings, locality=False)) == plain
    for order in hinted:
        assert len(order.wishes) <= MAX_WISHES
        for wish in order.wishes:
            assert 1 <= wish.weight <= GREATEST_WEIGHT
            assert bool(wish.node) != bool(wish.hostnames)
            for name in (wish.node, *wish.hostnames):
                assert name.isascii()
                assert set(name) <= set(string.ascii_letters + string.digits + "-._")
            assert all(0 < len(name) <= 63 for name in wish.hostnames)
