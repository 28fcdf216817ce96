"""Plays a schedule from start to end, with all parts, faults and invariants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.fault_injection import INJECTIONS
from simulator.invariants.executors import watch
from simulator.invariants.hooks import InvariantBroken
from simulator.rivals import play_both
from simulator.schedule import Schedule
from simulator.world import TimelineEntry, World


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a schedule. `broken`: the invariant that did not hold; None if all did."""

    schedule: Schedule
    broken: InvariantBroken | None
    timeline: tuple[TimelineEntry, ...]
    seconds: float
    """Virtual seconds until the end."""
    calls: Mapping[str, int] = field(default_factory=dict)


def run(schedule: Schedule, *, verbose: bool = False) -> Result:
    """Play a schedule. `verbose`: add the lines of the allocator's own log to the timeline."""
    world = World(schedule, watch, INJECTIONS, verbose=verbose)
    broken: InvariantBroken | None = None
    try:
        if schedule.rival is None:
            world.run()
        else:
            play_both(world, World(schedule.rival, watch, INJECTIONS, verbose=verbose, neighbour=world))
    except InvariantBroken as invariant:
        broken = invariant
        world.note("INVARIANT", f"{invariant.invariant} is broken: {invariant.text}")
    except Exception as error:  # noqa: BLE001 - whatever production code raises is a finding
        broken = InvariantBroken("no-fault", f"{type(error).__name__}: {error}")
        broken.__cause__ = error
        world.note("INVARIANT", f"{broken.invariant} is broken: {broken.text}")
    return Result(schedule, broken, tuple(world.timeline), world.event_queue.now, dict(world.server.calls))
