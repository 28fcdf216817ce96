"""Plays two applications on nodes that have room for only one of them at a time."""

from __future__ import annotations

from simulator.world import SETTLE, World

WORKS = 10.0
"""Seconds that a job takes once it has begun and there are no more faults."""


def play_both(first: World, second: World) -> None:
    """Play both on the same clock. After the last fault, each has to begin, and to end."""
    worlds = [first, second]
    for world in worlds:
        world.begin()
    queue = first.event_queue
    queue.run_until(max(world.schedule.calm_at for world in worlds))
    for world in worlds:
        world.calm()
    began: dict[int, float] = {}
    deadline = queue.now + SETTLE
    while worlds:
        queue.run_until(queue.now + 2.0)
        for number, world in enumerate(tuple(worlds)):
            if not _works(world):
                began.pop(id(world), None)
            elif queue.now - began.setdefault(id(world), queue.now) >= WORKS:
                world.note("world", f"application {number + 1} of {len(worlds)} has worked")
                world.end()
                worlds.remove(world)
                deadline = queue.now + SETTLE
        if worlds and queue.now > deadline:
            worlds[0].invariants.stuck()


def _works(world: World) -> bool:
    """Whether its tasks have begun, after its whole gang registered, and an executor is still registered."""
    return world.driver is not None and world.driver.begun and bool(world.driver.registered)
