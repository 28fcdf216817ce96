"""Calls from other threads to the one that waits in a selector."""

from __future__ import annotations

import selectors
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class CallQueue:
    """Calls that wait for the selector's thread, which wakes for them. `post` is for any thread."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._calls: deque[Callable[[], None]] = deque()
        self._sender, self.socket = socket.socketpair()
        self._sender.setblocking(False)
        self.socket.setblocking(False)
        selector.register(self.socket, selectors.EVENT_READ, None)

    def post(self, call: Callable[[], None]) -> None:
        """Have something done on the selector's thread. It raises nothing."""
        self._calls.append(call)
        with suppress(OSError):  # full: it will wake anyway; closed: nobody waits any more
            self._sender.send(b"!")

    def open(self) -> None:
        """Do what was posted; on the selector's thread."""
        with suppress(BlockingIOError):
            while self.socket.recv(4096):
                pass
        while self._calls:
            self._calls.popleft()()

    def close(self) -> None:
        """Let nobody post any more."""
        self._sender.close()
        self.socket.close()
