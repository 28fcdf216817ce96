"""Passes calls from other threads to the thread that waits in a selector."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class CallQueue:
    """Calls that wait for the selector's thread, and wake it up. Any thread may call `post`."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self._sender, self.socket = socket.socketpair()
        self._sender.setblocking(False)
        self.socket.setblocking(False)
        selector.register(self.socket, selectors.EVENT_READ, None)

    def post(self, call: Callable[[], None]) -> None:
        """Run `call` on the selector's thread. Never raises."""
        self._calls.append(call)
        with suppress(OSError):  # full: the thread will wake up anyway; closed: no thread waits now
            self._sender.send(b"!")

    def open(self) -> None:
        """Run the posted calls; on the selector's thread."""
        with suppress(BlockingIOError):
            while self.socket.recv(4096):
                pass
        while self._calls:
            self._calls.popleft()()

    def close(self) -> None:
        """Close the queue: later posts have no effect."""
        self._sender.close()
        self.socket.close()
