"""Two applications on nodes that have room for one of them at a time, from their start to their end."""

from __future__ import annotations

from simulator.world import SETTLE, World

WORKS = 10.0
"""Seconds that a job takes, when it has begun and nothing goes wrong any more."""


def play_both(first: World, second: World) -> None:
    """Play both in one time. When nothing goes wrong any more, each has to begin, and to end."""
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
    """Whether its whole gang was there once: from then on Spark works with what is left of it."""
    return world.driver is not None and world.driver.begun and bool(world.driver.registered)
