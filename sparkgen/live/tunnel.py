"""Forwards a port of this machine to a port of a pod, through the API server."""

from __future__ import annotations

import contextlib
import selectors
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sparkgen.cluster import ClusterError
from sparkgen.cluster.channel import Forwarded
from sparkgen.errors import SparkgenError
from sparkgen.live import peers
from sparkgen.live.page_address import REFUSAL, REFUSED, authority, is_for, read_head
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.httpserver.fairness import ConnectionLimiter

LOOPBACK = "127.0.0.1"
LOCALHOST = (LOOPBACK, "::1")
"""The addresses of `localhost`. A server that listens at one may get connections for one at the other."""
PIECE = 2**16
SILENCE = 300.0
"""Seconds without a byte in either direction after which a connection is closed: the server may be gone
without notice, and a browser that only had no request opens another connection."""
WAITING = 32
"""The most connections whose client has not sent a byte. They cost little: none is opened to the pod yet."""
USED = 64
"""The most connections that lead to the pod, or wait for that. Each takes four descriptors of this process,
and all must stay below 1,024: the official client waits for them with `select`."""

Open = Callable[[], Forwarded]
"""Opens a new connection to the pod's port. Raises ClusterError if that fails."""
FOREIGN = (
    "closed a connection that another user of this machine made: only your own programs, and root's, may use "
    "the forwarded port"
)


@dataclass(frozen=True, slots=True)
class Near:
    """How clients name the port. `address`: one of LOCALHOST.

    `host`: the only host for which requests of HTTP are passed on; "" for clients that are no browsers.
    """

    address: str = LOOPBACK
    host: str = ""


class Tunnel(socketserver.ThreadingTCPServer):
    """Listens on loopback, and opens a connection to the pod when a client of its port sends data.

    Connections of other users of this machine are closed at once, where the kernel names their user. If there
    are too many connections, the one that has been idle for the longest time is closed. Connections without
    data are counted apart, so they cannot close one that has been used.

    `port`: of this machine, 0 for any free port. `say`: called with the reason when a connection fails.
    `silence`: seconds, as SILENCE. `places`: shared with a tunnel at the other address. SparkgenError if the
    port is in use.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128  # others may connect fast

    def __init__(
        self,
        port: int,
        remote: int,
        open_: Open,
        say: Callable[[str], None],
        silence: float = SILENCE,
        near: Near | None = None,
        places: Places | None = None,
    ) -> None:
        near = near or Near()
        address, self.host = near.address, near.host
        self.address_family = _family(address)
        self.remote = remote
        self.silence = silence
        self.started = False
        self.over = False
        self.open = open_
        self.say = say
        self.places = places or Places()
        try:
            super().__init__((address, port), _Connection)
        except OSError as error:
            raise SparkgenError(
                f"cannot listen on {url_host(address)}:{port}: {error.strerror}; choose another port with "
                "--port, or any free one with --port 0"
            ) from error

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Start to accept connections, on another thread."""
        self.started = True
        # 0.05: the longest time in seconds until the thread notices `stop`.
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def refuse(self) -> None:
        """Close new connections at once, and keep the port: clients would send the next owner their token."""
        self.over = True

    def hand_over(self) -> socket.socket:
        """Stop, and return the listening socket, which keeps the port: clients wait for its next server.

        Raises OSError if the port is closed.
        """
        listening = self.socket.dup()
        self.stop()
        return listening

    def stop(self) -> None:
        """Stop listening, and close the port."""
        if self.started:  # without a thread, `shutdown` would wait for ever
            self.shutdown()
        self.server_close()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Returns whether a connection may be used."""
        if self.over:
            return False
        uid = peers.user_of(client_address[:2], request.getsockname()[:2])
        mine = peers.is_own(uid)
        if not mine and uid != peers.GONE:
            self.say(FOREIGN)
        return mine

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a new connection a place, and a thread."""
        self.places.enter(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, and give its place away."""
        self.places.leave(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: a browser may close its connection at any time."""


def has(address: str) -> bool:
    """Whether this machine has an address of LOCALHOST: not every machine has IPv6."""
    try:
        with socket.socket(_family(address)) as tried:
            tried.bind((address, 0))
    except OSError:
        return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class Places:
    """The connections that may stay open. Of too many, the one that was idle for longest is shut down.

    They take turns to be opened to the pod, so that the command's own requests wait for one of them at most.
    """

    _ALL = ""
    """The group of all connections: at loopback, all clients have one address."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._opening = False
        self._waiting: ConnectionLimiter[socket.socket] = ConnectionLimiter(WAITING, WAITING)
        self._used: ConnectionLimiter[socket.socket] = ConnectionLimiter(USED, USED)
        self._open: set[socket.socket] = set()

    def enter(self, connection: socket.socket) -> None:
        """Add a new connection."""
        with self._changed:
            self._open.add(connection)
            self._shut_down(self._waiting.add(connection, self._ALL, time.monotonic()))

    def use(self, connection: socket.socket) -> bool:
        """Note that a connection has data. Returns whether it still has a place."""
        with self._changed:
            if connection not in self._open:
                return False
            self._remove(connection)
            self._shut_down(self._used.add(connection, self._ALL, time.monotonic()))
            return True

    def in_turn(self, connection: socket.socket, open_: Open) -> Forwarded | None:
        """Open a used connection to the pod when no other one is opened; None as soon as it has no place."""
        with self._changed:
            self._changed.wait_for(lambda: connection not in self._open or not self._opening)
            if connection not in self._open:
                return None
            self._opening = True
        try:
            return open_()
        finally:
            with self._changed:
                self._opening = False
                self._changed.notify_all()

    def leave(self, connection: socket.socket) -> None:
        """Remove a connection that is closed."""
        with self._changed:
            self._open.discard(connection)
            self._remove(connection)

    def _remove(self, connection: socket.socket) -> None:
        self._waiting.remove(connection, self._ALL)
        self._used.remove(connection, self._ALL)

    def _shut_down(self, connection: socket.socket | None) -> None:
        if connection is not None:
            self._open.discard(connection)
            _shut_down(connection)
            self._changed.notify_all()


class _Connection(socketserver.BaseRequestHandler):
    """A connection of a browser, or of another client."""

    server: Tunnel

    def handle(self) -> None:
        """Pass on data in both directions until a side closes, or both are silent for too long."""
        tunnel, near = self.server, self.request
        with contextlib.suppress(OSError):
            near.settimeout(tunnel.silence)
            if not near.recv(1, socket.MSG_PEEK):
                return
            head = read_head(near) if tunnel.host else b""
            if tunnel.host and not is_for(head, authority(tunnel.host, tunnel.port)):
                tunnel.say(REFUSED)
                near.sendall(REFUSAL)
            elif tunnel.places.use(near):
                self._connect(near, head)

    def _connect(self, near: socket.socket, head: bytes) -> None:
        """Lead a connection to the pod. `head`: what was read from it already."""
        tunnel = self.server
        try:
            forwarded = tunnel.places.in_turn(near, tunnel.open)
        except ClusterError as error:
            tunnel.say(str(error))
            return
        if forwarded is None:
            return
        with contextlib.closing(forwarded):
            far = forwarded.socket(tunnel.remote)
            _pass_on(near, far, head, tunnel.silence, lambda: tunnel.places.use(near))
            if problem := forwarded.error(tunnel.remote):
                tunnel.say(" ".join(problem.split()))


def _pass_on(
    near: socket.socket, far: socket.socket, head: bytes, silence: float, use: Callable[[], bool]
) -> None:
    """Pass on data in both directions until a side closes, or no data moves for `silence` seconds.

    `head`: was read from `near` already. `use`: called when there is data; returns whether to pass it on.
    """

    def pass_(source: socket.socket, sink: socket.socket) -> bool:
        data = source.recv(PIECE)
        if not data or not use():
            return False
        sink.sendall(data)
        return True

    try:
        # Not `select.select`, which refuses descriptors from 1,024 on.
        with contextlib.suppress(OSError), selectors.PollSelector() as selector:
            for source, sink in ((near, far), (far, near)):
                source.settimeout(silence)
                selector.register(source, selectors.EVENT_READ, (source, sink))
            far.sendall(head)
            while (ready := selector.select(silence)) and all(pass_(*key.data) for key, _ in ready):
                pass
    finally:
        for end in (near, far):
            _shut_down(end)


def _shut_down(end: socket.socket) -> None:
    """Wake up the thread that reads a connection, which then closes it."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
