"""A forwarded port behind which bytes are played."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable
from typing import Any, cast


class Wrapped:
    """A socket as the official client has it: an object around one."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Played:
    """Sends pieces after a request, then ends. `problem`: what the pod's end says."""

    def __init__(self, pieces: Iterable[bytes], problem: str = "") -> None:
        self._near, self._far = socket.socketpair()
        self._pieces = pieces
        self.problem = problem
        self.closed = False
        self.thread = threading.Thread(target=self._play, daemon=True)
        self.thread.start()

    def _play(self) -> None:
        with contextlib.suppress(OSError), self._far as far:
            far.recv(1 << 16)
            for piece in self._pieces:
                far.sendall(piece)

    def socket(self, port_number: int) -> socket.socket:
        """The end on this machine."""
        return cast(socket.socket, Wrapped(self._near))

    def error(self, port_number: int) -> str:
        """What went wrong at the other end."""
        return self.problem

    def close(self) -> None:
        """End it."""
        self.closed = True
        self._near.close()
