"""The end of an allocator: deletes all executors of the attempt."""

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
"""Seconds between two checks."""
LATE = 5.0
"""Seconds until the API server knows that a container has ended: the kubelet checks every second."""


@dataclass(frozen=True, slots=True)
class ClockAndSleep:
    """A monotonic clock and a function that sleeps; both in seconds."""

    clock: Callable[[], float]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The result of a sweep. `left`: executors whose deletion was not accepted; None if that is unknown."""

    asked: frozenset[int]
    left: frozenset[int] | None


def sweep(
    backend: ExecutorBackend, pool: WaitableActionRunner, view: PodView, time: ClockAndSleep, seconds: float
) -> SweepResult:
    """Delete every executor of the attempt, and check until all are being deleted, at most `seconds`."""
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
            # After a round of deletions, list at once; if that shows executors, pause before deleting them
            # again.
            time.sleep(AGAIN)
        asked |= frozenset(seen.id for seen in staying)
        pool.start([Delete(seen.id, seen.uid, why="the application has ended") for seen in staying])
        pool.settle(AGAIN)
        if time.clock() > deadline:
            return SweepResult(asked, left)


def driver_runs_on(answers: Callable[[], bool], pod: Callable[[], DriverPod], time: ClockAndSleep) -> bool:
    """Whether the driver still runs, so that its executors must stay: it answers, or nothing shows its end.

    A closed port alone proves nothing: while its accept queue is full, the driver accepts no connection. The
    pod's status is written a moment after the end, so it is read for `LATE` seconds. Executors whose driver
    has ended exit by themselves; those of a running driver would be lost.
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
    """Whether the driver's port accepts connections: then its container still runs."""
    try:
        with socket.create_connection((address, port), seconds):
            return True
    except OSError:
        return False
