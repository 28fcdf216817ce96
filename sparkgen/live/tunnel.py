"""Forwards a port of this machine to a port of a pod, through the API server."""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import threading
from collections.abc import Callable

from sparkgen.cluster import ClusterError
from sparkgen.cluster.channel import Forwarded
from sparkgen.errors import SparkgenError
from sparkgen.runtime.addresses import url_host

LOOPBACK = "127.0.0.1"
LOCALHOST = (LOOPBACK, "::1")
"""The addresses of `localhost`. A server that listens at one may get connections for one at the other."""
PIECE = 2**16
SILENCE = 300.0
"""Seconds without a byte in either direction after which a connection is closed: the server may be gone
without notice, and a browser that only had no request opens another connection."""

Open = Callable[[], Forwarded]
"""Opens a new connection to the pod's port. Raises ClusterError if that fails."""


class Tunnel(socketserver.ThreadingTCPServer):
    """Listens on loopback, and opens a connection to the pod for each connection that it accepts.

    `port`: of this machine, 0 for any free port. `say`: called with the reason when a connection fails.
    `silence`: seconds, as SILENCE. `address`: one of LOCALHOST. SparkgenError if the port is in use.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        port: int,
        remote: int,
        open_: Open,
        say: Callable[[str], None],
        silence: float = SILENCE,
        address: str = LOOPBACK,
    ) -> None:
        self.address_family = _family(address)
        self.remote = remote
        self.silence = silence
        self.started = False
        self.open = open_
        self.say = say
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

    def stop(self) -> None:
        """Stop listening, and close the port."""
        if self.started:  # without a thread, `shutdown` would wait for ever
            self.shutdown()
        self.server_close()

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


class _Connection(socketserver.BaseRequestHandler):
    """A connection of a browser, or of another client."""

    server: Tunnel

    def handle(self) -> None:
        """Pass on data in both directions until a side closes, or both are silent for too long."""
        tunnel = self.server
        try:
            forwarded = tunnel.open()
        except ClusterError as error:
            tunnel.say(str(error))
            return
        _pass_on(self.request, forwarded.socket(tunnel.remote), tunnel.silence)
        if problem := forwarded.error(tunnel.remote):
            tunnel.say(" ".join(problem.split()))
        forwarded.close()


def _pass_on(near: socket.socket, far: socket.socket, silence: float) -> None:
    """Pass on data in both directions until a side closes, or no data moves for `silence` seconds."""
    with contextlib.suppress(OSError):
        for end in (near, far):
            end.settimeout(silence)
        open_ = True
        while open_:
            ready = select.select([near, far], [], [], silence)[0]
            open_ = bool(ready) and all(_piece(one, far if one is near else near) for one in ready)
    for end in (near, far):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _piece(source: socket.socket, sink: socket.socket) -> bool:
    """Pass on the data that has arrived; False at the end of the connection."""
    data = source.recv(PIECE)
    sink.sendall(data)
    return bool(data)
