"""The end: nothing that runs for this attempt stays behind."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.allocator.act import Settles
from sparkgen.allocator.observe import View
from sparkgen.allocator.ports import WatchEnded, World
from sparkgen.allocator.types import Delete

AGAIN = 1.0
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True)
class Time:
    """A monotonic clock, and a way to let it go on; both in seconds."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Swept:
    """What the end came to. `left`: executors that could not be asked to go; None when nobody knows."""

    asked: frozenset[int]
    left: frozenset[int] | None


def sweep(world: World, hands: Settles, view: View, time: Time, seconds: float) -> Swept:
    """Delete every executor of the attempt, and look again until each is on its way, for a time at most."""
    deadline = time.clock() + seconds
    asked: frozenset[int] = frozenset()
    left: frozenset[int] | None = None
    while True:
        began = time.clock()
        try:
            view = view.listed(world.list(), began, time.clock())
        except WatchEnded:
            staying = []
        else:
            staying = [seen for seen in view.snapshot().executors.values() if not seen.deleting]
            left = frozenset(seen.id for seen in staying)
            if not left:
                return Swept(asked, left)
        again = not staying or bool(asked)
        asked |= frozenset(seen.id for seen in staying)
        hands.start([Delete(seen.id, seen.uid, why="the application has ended") for seen in staying])
        hands.settle(AGAIN)
        if again:
            time.sleep(AGAIN)
        if time.clock() > deadline:
            return Swept(asked, left)


def driver_answers(address: str, port: int, seconds: float = 1.0) -> bool:
    """Whether the driver's port takes connections: then its container still runs."""
    try:
        with socket.create_connection((address, port), seconds):
            return True
    except OSError:
        return False
