"""A limited number of threads for work that may take a while. Thread-safe."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from sparkgen.runtime.httpserver.fairness import FairQueue


@dataclass(frozen=True, slots=True)
class Job:
    """Work for a thread; if there is no free place, `refuse` is called instead, on any thread."""

    group: str
    run: Callable[[], Callable[[], None]]
    """Never raises. Its result is called once its place is free for the next job."""
    refuse: Callable[[], None]


class Workers:
    """At most `threads` at once, of which `per_group` for one client; `waiting` more jobs wait for a thread.

    A thread starts when there is a job for it, and ends when there is none.
    """

    def __init__(self, name: str, threads: int, *, waiting: int = 0, per_group: int | None = None) -> None:
        self._name = name
        self._threads = threads
        self._per_group = threads if per_group is None else per_group
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._waiting: FairQueue[Job] = FairQueue(waiting, max(1, waiting // 8))

    @property
    def busy(self) -> int:
        """The current number of threads."""
        with self._lock:
            return self._busy.total()

    def submit(self, job: Job) -> None:
        """Run a job now or in its turn, or refuse it."""
        with self._lock:
            free = self._busy.total() < self._threads and self._busy[job.group] < self._per_group
            if free:
                self._busy[job.group] += 1
            refused = None if free else self._waiting.push(job.group, job)
        if refused is not None:
            refused.refuse()
        if free and not self._start(job):
            job.refuse()

    def _start(self, job: Job) -> bool:
        try:
            threading.Thread(target=self._work, args=(job,), name=self._name, daemon=True).start()
        except RuntimeError:  # the container allows no more threads
            self._done(job)
            return False
        return True

    def _work(self, job: Job | None) -> None:
        while job is not None:
            tell = job.run()
            job = self._next(job)
            tell()

    def _next(self, done: Job) -> Job | None:
        with self._lock:
            job = self._waiting.pop()
            self._release(done)
            if job is not None:
                self._busy[job.group] += 1
            return job

    def _done(self, job: Job) -> None:
        with self._lock:
            self._release(job)

    def _release(self, job: Job) -> None:
        self._busy[job.group] -= 1
        if not self._busy[job.group]:
            del self._busy[job.group]
