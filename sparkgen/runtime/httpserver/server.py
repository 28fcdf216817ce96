"""The server's one thread: accepts connections, reads heads and bodies, and writes answers. Never blocks."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sparkgen.runtime.httpserver.call_queue import CallQueue
from sparkgen.runtime.httpserver.connection import Connection, ConnectionPhase
from sparkgen.runtime.httpserver.fairness import ConnectionLimiter, address_group
from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.parse import END, BadRequest, parse_head, response_bytes
from sparkgen.runtime.httpserver.values import BUSY, Handler, HttpRequest, HttpResponse, Work, text
from sparkgen.runtime.httpserver.workers import Job

ACCEPTS = 64
"""The most connections that are accepted before existing ones have their turn."""
READ = 64 * 1024
TICK = 0.1
"""Seconds between two checks of deadlines."""
DRAIN_SECONDS = 2.0
DRAIN_BYTES = 8 * 1024 * 1024
"""The most bytes of an unwanted body that are read: after them, the client sees a broken connection."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


Admits = Callable[[socket.socket, Any], bool]
"""A function that says whether a new connection from an address may be used."""


class HttpServer:
    """All connections of one listener. `run` is for its thread."""

    def __init__(
        self,
        listening: socket.socket,
        handler: Handler,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        admits: Admits | None = None,
    ) -> None:
        self._listening = listening
        self._admits = admits
        self._handler = handler
        self._limits = limits
        self._clock = clock
        self._waiting: ConnectionLimiter[Connection] = ConnectionLimiter(
            limits.connections, limits.per_address, limits.grace
        )
        self._sending: ConnectionLimiter[Connection] = ConnectionLimiter(
            limits.sending, limits.sending_per_address
        )
        self._open: set[Connection] = set()
        self._reserved = 0
        self._swept_at = 0.0
        self._selector = selectors.DefaultSelector()
        self._mailbox = CallQueue(self._selector)
        self._selector.register(listening, selectors.EVENT_READ, None)
        self._stopped = False

    def stop(self) -> None:
        """Write pending bytes, and close. Any thread may call it."""

        def end() -> None:
            self._stopped = True

        self._mailbox.post(end)

    # --- the thread -------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until `stop`."""
        try:
            while not self._stopped:
                self._turn()
        finally:
            for connection in tuple(self._open):
                self._close(connection)
            self._selector.close()
            self._listening.close()
            self._mailbox.close()

    def _turn(self) -> None:
        events = self._selector.select(TICK if self._open else None)
        accept = False
        for key, _ in events:
            if key.data is not None:
                self._guarded(key.data, self._step)
            elif key.fileobj is self._listening:
                accept = True
        self._mailbox.open()
        if accept:
            self._accept()
        self._sweep()

    def _guarded(self, connection: Connection, step: Callable[[Connection], None]) -> None:
        """Run `step`; an error closes only this connection."""
        if connection.phase is ConnectionPhase.CLOSED:
            return
        try:
            step(connection)
        except BlockingIOError:
            pass
        except Exception:  # noqa: BLE001 - the connection broke, or its bytes caused an error
            self._close(connection)

    def _sweep(self) -> None:
        now = self._clock()
        if now - self._swept_at < TICK:
            return
        self._swept_at = now
        for connection in [
            one for one in self._open if now >= one.deadline and one.phase is not ConnectionPhase.WORK
        ]:
            self._close(connection)

    # --- connections come -------------------------------------------------------------------------

    def _accept(self) -> None:
        for _ in range(ACCEPTS):
            try:
                client, address = self._listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in EXHAUSTED:
                    self._make_room()
                return  # otherwise the client has already closed the connection
            if self._admits is not None and not self._admits(client, address):
                client.close()
                continue
            deadline = self._clock() + self._limits.head_seconds
            connection = Connection(client, address_group(address[0]), deadline)
            self._open.add(connection)
            self._guarded(connection, self._welcome)

    def _make_room(self) -> None:
        """Close a connection, because there are no more descriptors; if none can be closed, wait a moment."""
        victim = self._waiting.evict() or self._sending.evict()
        if victim is None:
            time.sleep(TICK)
        self._evict(victim)

    def _welcome(self, connection: Connection) -> None:
        connection.socket.setblocking(False)
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait_for_client(connection)
        self._read(connection)  # most clients have sent the whole request by now

    def _wait_for_client(self, connection: Connection) -> None:
        self._watch(connection, selectors.EVENT_READ)
        self._evict(self._waiting.add(connection, connection.group, self._clock()))

    def _evict(self, connection: Connection | None) -> None:
        if connection is not None:
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        connection.phase = ConnectionPhase.CLOSED
        self._leave(connection)
        self._free_body(connection)
        self._open.discard(connection)
        connection.socket.close()

    def _leave(self, connection: Connection) -> None:
        """Stop waiting for anything on this connection."""
        self._waiting.remove(connection, connection.group)
        self._sending.remove(connection, connection.group)
        self._watch(connection, 0)

    def _watch(self, connection: Connection, events: int) -> None:
        if connection.events == events:
            return
        if not connection.events:
            self._selector.register(connection.socket, events, connection)
        elif events:
            self._selector.modify(connection.socket, events, connection)
        else:
            self._selector.unregister(connection.socket)
        connection.events = events

    # --- bytes come -------------------------------------------------------------------------------

    def _step(self, connection: Connection) -> None:
        if connection.phase is ConnectionPhase.SENDING:
            self._send(connection)
            self._read_heads(connection)
        else:
            self._read(connection)

    def _read(self, connection: Connection) -> None:
        part = connection.socket.recv(READ)
        if not part:
            self._close(connection)
        elif connection.phase is ConnectionPhase.DRAINING:
            connection.drained += len(part)
            if connection.drained > DRAIN_BYTES:
                self._close(connection)
        else:
            if connection.phase is ConnectionPhase.HEAD and not connection.buffer:
                self._hurry(connection)
            connection.buffer += part
            self._read_body(connection)
            self._read_heads(connection)

    def _hurry(self, connection: Connection) -> None:
        """Give a request that has begun its own deadline."""
        if self._limits.idle_seconds:
            connection.deadline = min(connection.deadline, self._clock() + self._limits.head_seconds)

    def _read_heads(self, connection: Connection) -> None:
        """Begin each complete request in the buffer: several, if a client sends them in advance."""
        while connection.phase is ConnectionPhase.HEAD:
            head = connection.find_head(END)
            if len(connection.buffer if head is None else head) > self._limits.head_bytes:
                self._close(connection)
                return
            if head is None:
                return
            self._begin(connection, head)

    def _begin(self, connection: Connection, head: bytes) -> None:
        try:
            request = parse_head(head)
        except BadRequest as error:
            connection.unread_body = True  # what follows is unknown
            self._answer(connection, text(400, f"{error}\n"))
            return
        connection.request = request
        connection.unread_body = request.has_body
        try:
            found = self._handler(request)
        except Exception:  # noqa: BLE001 - requests are never logged, because they contain a token
            found = text(500, "internal error\n")
        if isinstance(found, HttpResponse):
            self._answer(connection, found)
        elif found.reads_body and request.content_length:
            self._begin_body(connection, request, found)
        else:
            self._submit(connection, found, b"")

    def _begin_body(self, connection: Connection, request: HttpRequest, work: Work) -> None:
        length = request.content_length or 0
        if self._reserved + length > self._limits.body_bytes:
            self._answer(connection, BUSY)
            return
        connection.phase, connection.work, connection.reserved = ConnectionPhase.BODY, work, length
        connection.deadline = self._clock() + self._limits.body_seconds
        self._reserved += length
        if request.headers.get("expect", "").lower() == "100-continue":
            connection.socket.send(CONTINUE)
        self._read_body(connection)

    def _read_body(self, connection: Connection) -> None:
        length = connection.reserved
        if connection.phase is ConnectionPhase.BODY and connection.work and len(connection.buffer) >= length:
            body = bytes(connection.buffer[:length])
            del connection.buffer[:length]
            connection.unread_body = False
            self._submit(connection, connection.work, body)

    def _free_body(self, connection: Connection) -> None:
        self._reserved -= connection.reserved
        connection.reserved = 0

    # --- answers go -------------------------------------------------------------------------------

    def _submit(self, connection: Connection, work: Work, body: bytes) -> None:
        connection.phase, connection.work = ConnectionPhase.WORK, None
        self._leave(connection)

        def answer(found: HttpResponse) -> None:
            self._mailbox.post(lambda: self._guarded(connection, lambda one: self._finish(one, found)))

        def run() -> Callable[[], None]:
            try:
                found = work.run(body)
            except Exception:  # noqa: BLE001 - as in _begin
                found = text(500, "internal error\n")
            return lambda: answer(found)

        work.workers.submit(Job(connection.group, run, lambda: answer(work.busy)))

    def _finish(self, connection: Connection, found: HttpResponse) -> None:
        self._free_body(connection)
        self._answer(connection, found)
        self._read_heads(connection)

    def _answer(self, connection: Connection, found: HttpResponse) -> None:
        request = connection.request
        connection.keep_alive = bool(
            self._limits.idle_seconds and request and request.keep_alive and not connection.unread_body
        )
        connection.request = None
        connection.out = memoryview(response_bytes(found, keep_alive=connection.keep_alive))
        connection.answer_bytes = len(connection.out)
        connection.phase = ConnectionPhase.SENDING
        connection.deadline = self._clock() + self._limits.send_seconds
        self._leave(connection)
        self._send(connection)

    def _send(self, connection: Connection) -> None:
        with suppress(BlockingIOError):
            connection.out = connection.out[connection.socket.send(connection.out) :]
        if not connection.out:
            self._sent(connection)
        elif not connection.events:
            self._watch(connection, selectors.EVENT_WRITE)
            self._evict(self._sending.add(connection, connection.group, self._clock()))
            self._bound_answers()

    def _bound_answers(self) -> None:
        """Close connections whose answers take too much memory together, but for the last one."""
        while len(self._sending) > 1 and self._answer_bytes() > self._limits.sending_bytes:
            self._evict(self._sending.evict())

    def _answer_bytes(self) -> int:
        """The bytes of all answers of which a part is unsent."""
        return sum(one.answer_bytes for one in self._open if one.phase is ConnectionPhase.SENDING)

    def _sent(self, connection: Connection) -> None:
        self._leave(connection)
        if connection.keep_alive:
            connection.phase = ConnectionPhase.HEAD
            connection.deadline = self._clock() + self._limits.idle_seconds
            self._wait_for_client(connection)
        elif connection.unread_body:
            connection.phase = ConnectionPhase.DRAINING
            connection.deadline = self._clock() + DRAIN_SECONDS
            connection.buffer.clear()
            connection.socket.shutdown(socket.SHUT_WR)
            self._wait_for_client(connection)
        else:
            self._close(connection)
