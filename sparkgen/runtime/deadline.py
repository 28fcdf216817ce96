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
    """Shuts a connection down if it is still read after `seconds`. `clock`, `wait`: passed in by tests."""

    def __init__(
        self,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._wait = wait
        self._until = 0.0
        self._passed = False
        self._socket: socket.socket | None = None
        self._ended = threading.Event()
        self._lock = threading.Lock()

    def watch(self, connection: socket.socket) -> None:
        """Count from now on, for the answer that is about to be read. Raises OSError without a thread."""
        with self._lock:
            first, self._socket = self._socket is None, connection
        self.extend()
        if first:
            try:
                threading.Thread(target=self._keep, daemon=True).start()
            except RuntimeError as error:  # this process may have no more threads
                raise OSError(str(error)) from error

    def extend(self) -> None:
        """Count anew: a part of the answer has arrived, and the next has as long."""
        self._until = self._clock() + self.seconds

    def end(self) -> bool:
        """Stop counting. Returns whether the connection was shut down, and its answer may be incomplete."""
        with self._lock:
            self._ended.set()
            return self._passed

    def _keep(self) -> None:
        while (left := self._until - self._clock()) > 0:
            if self._wait(self._ended, left):
                return
        with self._lock, suppress(OSError):
            if self._socket is not None and not self._ended.is_set():
                self._passed = True
                _shut_down(self._socket)


def _shut_down(connection: socket.socket) -> None:
    if isinstance(connection, ssl.SSLSocket):
        # SSLSocket's own method takes TLS away from the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    else:
        connection.shutdown(socket.SHUT_RDWR)


_CURRENT: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[Deadline]:
    """Limit the time of each answer that this block reads from a watched connection.

    Raises Overdue, also if the block ended: a connection that was shut down looks like the answer's end.
    """
    deadline = Deadline(seconds)
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
