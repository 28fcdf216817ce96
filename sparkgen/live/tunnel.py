"""A port of this machine that leads to a port of a pod, through the API server."""

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
"""What the name `localhost` leads to. Whoever listens at either may be told what is meant for the other."""
PIECE = 2**16
SILENCE = 300.0
"""Seconds without a byte either way after which a connection is given up: the server may be gone without a
word, and a browser opens another one where it only had nothing to ask."""

Open = Callable[[], Forwarded]
"""A new connection to the pod's port. ClusterError when there is none."""


class Tunnel(socketserver.ThreadingTCPServer):
    """Listens on loopback, and opens a connection to the pod for each that comes.

    `port`: of this machine, 0 for any that is free. `say`: is told why a connection came to nothing.
    `silence`: seconds, as SILENCE. `address`: one of LOCALHOST. SparkgenError when the port is taken.
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
        """Where it listens."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Begin, on a thread of its own."""
        self.started = True
        # So many seconds pass, at most, until `stop` is noticed.
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """End: nobody listens at the port any more."""
        if self.started:  # what has not begun is waited for without an end
            self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away is no matter."""


def has(address: str) -> bool:
    """Whether this machine has an address of LOCALHOST: not every one has IPv6."""
    try:
        with socket.socket(_family(address)) as tried:
            tried.bind((address, 0))
    except OSError:
        return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class _Connection(socketserver.BaseRequestHandler):
    """One connection of a browser's, or of another client's."""

    server: Tunnel

    def handle(self) -> None:
        """Pass on what comes, both ways, until either side ends, or both are silent for long."""
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
    """Both ways, until one side ends, or for so many seconds neither says or takes anything."""
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
    """Pass on what there is; False at the end."""
    data = source.recv(PIECE)
    sink.sendall(data)
    return bool(data)
