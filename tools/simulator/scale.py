"""Measures what grows with size: decisions, views, memory and calls, without faults. Times are wall time."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from simulator import nodes
from simulator.run import run
from simulator.schedule import Schedule, TargetChange
from simulator.template import TEMPLATE, attempt
from sparkgen.objects import Object
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.observe.trim_pod import trim_pod
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.pods.template import executor_pod
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.backend import PodList, WatchEvent
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile

SIZES = (100, 1_000, 10_000, 100_000)
ROUNDS = 5
"""Each time is the shortest of this many runs."""
EVENTS = 1_000
"""Events in one run: they take longer if much has changed since the last merge (mappings.py)."""
SETTINGS = AllocationSettings(dynamic=True)


@dataclass(frozen=True, slots=True)
class Row:
    """One size: milliseconds of a round's parts, microseconds of an event, and the view's memory in MiB."""

    executors: int
    decide_ms: float
    snapshot_ms: float
    event_us: float
    view_mib: float


def pods(count: int) -> Iterator[Object]:
    """The pods of running executors, as the API server returns them."""
    made = attempt()
    for id_ in range(1, count + 1):
        pod = executor_pod(TEMPLATE, made, Create(id_, 0), made.start_url(id_), made.driver_url)
        metadata = {**pod["metadata"], "uid": f"uid-{id_}", "resourceVersion": str(id_)}
        yield nodes.running(nodes.bound({**pod, "metadata": metadata}, f"node-{id_ % 100}"))


def measured(count: int) -> Row:
    """The measurements of one size."""
    tracemalloc.start()
    view = PodView(attempt())
    view = view.with_list(PodList(tuple(map(trim_pod, pods(count))), "1"), 0.0, 1.0)
    mib = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    events = [WatchEvent("MODIFIED", pod, str(count + 1)) for pod in map(trim_pod, pods(min(count, EVENTS)))]
    events = (events * EVENTS)[:EVENTS]
    snapshot = view.snapshot()
    target, memory = _steady(snapshot)
    memory = decide(snapshot, target, memory, SETTINGS, 10.0).memory
    return Row(
        executors=count,
        decide_ms=1e3 * _least(lambda: decide(snapshot, target, memory, SETTINGS, 10.0)),
        snapshot_ms=1e3 * _least(view.snapshot),
        event_us=1e6 / EVENTS * _least(lambda: _after_events(view, events)),
        view_mib=mib,
    )


def _after_events(view: PodView, events: list[WatchEvent]) -> PodView:
    """The view after all events, one by one, as the watcher applies them."""
    for event in events:
        view = view.with_event(event, 2.0)
    return view


def applications(count: int) -> tuple[float, float]:
    """Play `count` small applications, one by one. Returns the seconds and the calls of each."""
    began, calls = time.perf_counter(), 0
    for seed in range(count):
        schedule = Schedule(
            seed, replace(SETTINGS, maximum=4), (TargetChange(3.0, {0: 4}),), (), (), calm_at=10.0
        )
        result = run(schedule)
        calls += sum(result.calls.values())
    return (time.perf_counter() - began) / count, calls / count


def _steady(snapshot: Snapshot) -> tuple[DriverTarget, AllocatorMemory]:
    """The target and the memory for a driver that has all executors that it wants."""
    ids = frozenset(snapshot.executors)
    wanted = {0: len(ids)}
    target = DriverTarget(DriverPhase.RUNNING, "s", 1, "app", True, wanted, {0: Profile()}, registered=ids)
    return target, AllocatorMemory(next_id=len(ids) + 1, session="s", speaking_since=0.0)


def _least(what: Callable[[], object]) -> float:
    """The shortest wall time of ROUNDS calls, in seconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        what()
        times.append(time.perf_counter() - began)
    return min(times)
