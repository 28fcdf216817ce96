"""Threads: never more than said, and nobody is forgotten."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from sparkgen.runtime.httpserver.workers import Job, Workers


def test_no_more_than_said() -> None:
    """In all, and for one client; what has no place is refused, what waits has its turn."""
    workers = Workers("w", 3, waiting=8, per_group=2)
    go, done, refused = threading.Event(), [], []

    def job(group: str, number: int) -> Job:
        def run() -> Callable[[], None]:
            go.wait(5)
            return lambda: done.append((group, number))

        return Job(group, run, lambda: refused.append((group, number)))

    for number in range(4):
        workers.submit(job("a", number))
    assert workers.busy == 2
    assert refused == [("a", 3)]
    for number in range(2):
        workers.submit(job("b", number))
    assert workers.busy == 3
    go.set()
    deadline = time.monotonic() + 5
    while len(done) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert workers.busy == 0
    assert sorted(done) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]


def test_a_machine_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's bound on processes is met: it is refused, and the next one is tried again."""
    workers, refused = Workers("w", 1), []

    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", none)
        workers.submit(Job("a", lambda: print, lambda: refused.append(1)))
    assert refused == [1]
    assert workers.busy == 0
    done = threading.Event()
    workers.submit(Job("a", lambda: done.set, lambda: None))
    assert done.wait(5)
