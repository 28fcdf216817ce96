"""A limit on the time of a whole answer, which a thread of its own keeps.

A socket's timeout counts from byte to byte, so a server that sends a byte now and then never reaches it.
Between two pieces of a body a reader can check the time, but not while http.client reads a head, the length
of a chunk or a trailer.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar


class Overdue(TimeoutError):
    """An answer was not complete in time."""


class Deadline:
    """A limit on the time of an answer: its connection is shut down if it is still read after `seconds`."""

    def __init__(self, seconds: float, keeper: Keeper) -> None:
        self.seconds = seconds
        self.until = 0.0
        self.passed = False
        self.connection: socket.socket | None = None
        self._keeper = keeper

    def watch(self, connection: socket.socket) -> None:
        """Count from now on, for the answer that is about to be read. Raises OSError without a thread."""
        self.extend()
        self.connection = connection
        self._keeper.keep(self)

    def extend(self) -> None:
        """Count anew: a part of the answer has arrived, and the next has as long."""
        self.until = self._keeper.clock() + self.seconds

    def end(self) -> bool:
        """Stop counting. Returns whether the connection was shut down, and its answer may be incomplete."""
        self._keeper.drop(self)
        return self.passed


class Keeper:
    """Shuts down the connections of deadlines that have passed, on one thread that starts when needed.

    One thread for all, because starting one for each request would cost as much as a small request.
    `clock`, `wait`: passed in by tests.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Condition, float], object] = threading.Condition.wait,
    ) -> None:
        self.clock = clock
        self._wait = wait
        self._changed = threading.Condition()
        self._kept: set[Deadline] = set()
        self._running = False
        self._wakes = 0.0
        """When the thread looks again."""

    def keep(self, deadline: Deadline) -> None:
        """Watch a deadline, until it is dropped. Raises OSError if this process may have no more threads."""
        with self._changed:
            if not self._running:
                try:
                    threading.Thread(target=self._run, daemon=True).start()
                except RuntimeError as error:
                    raise OSError(str(error)) from error
                self._running = True
            elif deadline.until < self._wakes:
                self._changed.notify()
            self._kept.add(deadline)

    def drop(self, deadline: Deadline) -> None:
        """Leave a deadline's connection alone from now on."""
        with self._changed:
            self._kept.discard(deadline)

    def _run(self) -> None:
        with self._changed:
            while self._kept:
                now = self.clock()
                for deadline in [one for one in self._kept if one.until <= now]:
                    self._kept.discard(deadline)
                    deadline.passed = True
                    _shut_down(deadline.connection)
                self._wakes = min((one.until for one in self._kept), default=now)
                if self._kept:
                    self._wait(self._changed, self._wakes - now)
            self._running = False


def _shut_down(connection: socket.socket | None) -> None:
    with suppress(OSError):  # it is closed already
        if isinstance(connection, ssl.SSLSocket):
            # SSLSocket's own method takes TLS away from the thread that reads.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)
        elif connection is not None:
            connection.shutdown(socket.SHUT_RDWR)


_KEEPER = Keeper()
_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Limit the time of each answer that this block reads from a watched connection.

    Raises Overdue, also if the block ended: a connection that was shut down looks like the answer's end.
    """
    deadline = Deadline(seconds, _KEEPER)
    before = _CURRENT.set(deadline)
    overdue = f"no complete answer within {seconds:g} s"
    try:
        yield deadline
    except Exception as error:
        if deadline.end():
            raise Overdue(overdue) from error
        raise
    finally:
        _CURRENT.reset(before)
        passed = deadline.end()
    if passed:
        raise Overdue(overdue)


def watch(connection: socket.socket | None) -> None:
    """Watch a connection for the innermost block `within` of this thread, if there is one."""
    deadline = _CURRENT.get()
    if deadline is not None and connection is not None:
        deadline.watch(connection)
