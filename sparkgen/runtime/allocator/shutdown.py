"""The end: nothing that runs for this attempt stays behind."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.runtime.allocator.action_pool import WaitableActionRunner
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod
from sparkgen.runtime.allocator.values.actions import Delete
from sparkgen.runtime.allocator.values.backend import ExecutorBackend, WatchEnded

AGAIN = 1.0
"""Seconds between two looks."""
LATE = 5.0
"""Seconds in which the kubelet has told the API server that a container ended: it looks every second."""


@dataclass(frozen=True, slots=True)
class ClockAndSleep:
    """A monotonic clock, and a way to let it go on; both in seconds."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What the end came to. `left`: executors that could not be asked to go; None when nobody knows."""

    asked: frozenset[int]
    left: frozenset[int] | None


def sweep(
    backend: ExecutorBackend, pool: WaitableActionRunner, view: PodView, time: ClockAndSleep, seconds: float
) -> SweepResult:
    """Delete every executor of the attempt, and look again until each is on its way, for a time at most."""
    deadline = time.clock() + seconds
    asked: frozenset[int] = frozenset()
    left: frozenset[int] | None = None
    while True:
        began = time.clock()
        try:
            view = view.with_list(backend.list(), began, time.clock())
        except WatchEnded:
            staying = []
        else:
            staying = [seen for seen in view.snapshot().executors.values() if not seen.deleting]
            left = frozenset(seen.id for seen in staying)
            if not left:
                return SweepResult(asked, left)
        if asked or not staying:
            # What was asked to go is looked at without delay, and asked again only after a pause.
            time.sleep(AGAIN)
        asked |= frozenset(seen.id for seen in staying)
        pool.start([Delete(seen.id, seen.uid, why="the application has ended") for seen in staying])
        pool.settle(AGAIN)
        if time.clock() > deadline:
            return SweepResult(asked, left)


def driver_runs_on(answers: Callable[[], bool], pod: Callable[[], DriverPod], time: ClockAndSleep) -> bool:
    """Whether the driver runs on, so that its executors must not go: it answers, or nothing says its end.

    Its port alone says nothing: while its accept queue is full, it takes no connection. The pod's status is
    written a moment after the end, and so it is asked for `LATE` seconds. Executors whose driver has ended
    without that end by themselves; those of one that runs would be lost.
    """
    deadline = time.clock() + LATE
    while not answers():
        if pod() is DriverPod.ENDS:
            return False
        if time.clock() >= deadline:
            return True
        time.sleep(AGAIN / 2)
    return True


def driver_answers(address: str, port: int, seconds: float = 1.0) -> bool:
    """Whether the driver's port takes connections: then its container still runs."""
    try:
        with socket.create_connection((address, port), seconds):
            return True
    except OSError:
        return False
