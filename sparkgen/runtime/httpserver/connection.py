"""One connection of a client, with the bytes that have arrived."""

from __future__ import annotations

import enum
import socket
from dataclasses import dataclass, field

from sparkgen.runtime.httpserver.values import HttpRequest, Work


class ConnectionPhase(enum.Enum):
    """What a connection waits for."""

    HEAD = "head"
    BODY = "body"
    WORK = "work"
    """It waits for a worker thread, and is neither read nor written."""
    SENDING = "sending"
    DRAINING = "draining"
    """It was answered before its body was read. Closing it with unread bytes could discard the answer."""
    CLOSED = "closed"


@dataclass(slots=True, eq=False)
class Connection:
    """A connection. `deadline` of its current phase, on the server's clock."""

    socket: socket.socket
    group: str
    """The limits.address_group of its client."""
    deadline: float
    phase: ConnectionPhase = ConnectionPhase.HEAD
    buffer: bytearray = field(default_factory=bytearray)
    searched: int = 0
    """The first bytes of the buffer, in which the end of the head cannot begin."""
    request: HttpRequest | None = None
    work: Work | None = None
    reserved: int = 0
    """The bytes of Limits.body_bytes that its body uses."""
    out: memoryview = field(default_factory=lambda: memoryview(b""))
    answer_bytes: int = 0
    """The bytes of the answer in `out`: all of them stay in memory until the last one is sent."""
    keep_alive: bool = False
    unread_body: bool = False
    drained: int = 0
    events: int = 0
    """The events that the selector watches for."""

    def find_head(self, end: bytes) -> bytes | None:
        """Take the head out of the buffer; None if it is not complete."""
        at = self.buffer.find(end, self.searched)
        if at < 0:
            self.searched = max(0, len(self.buffer) - len(end) + 1)
            return None
        head = bytes(self.buffer[:at])
        del self.buffer[: at + len(end)]
        self.searched = 0
        return head
