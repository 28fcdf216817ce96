"""Listeners, at addresses of IPv4 and IPv6."""

from __future__ import annotations

import errno
import resource
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass

from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.server import HttpServer
from sparkgen.runtime.httpserver.values import Handler

ANY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - what listens there tells no secret
BACKLOG = 1024
"""Connections that the kernel keeps until they are accepted; it has a bound of its own, too."""
NO_IPV6 = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT, errno.ENOPROTOOPT, errno.EINVAL)
"""What a machine without IPv6, or with `ipv6.disable`, says."""
DESCRIPTORS = 4096


def listening_socket(address: str, port: int) -> socket.socket:
    """A socket that listens; at each address of the machine, of both versions, for one of ANY.

    OSError when the port is taken, or the address is not this machine's.
    """
    if address not in ANY:
        return _bound(socket.AF_INET6 if ":" in address else socket.AF_INET, address, port)
    try:
        return _bound(socket.AF_INET6, "::", port)
    except OSError as error:
        if error.errno not in NO_IPV6:
            raise
    return _bound(socket.AF_INET, "0.0.0.0", port)  # noqa: S104 - as above


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            # Linux's default may be changed by a sysctl.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if address == "::" else 1)
        made.bind((address, port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def raise_descriptor_limit(wanted: int = DESCRIPTORS) -> None:
    """Let this process open so many files, where it may: some container runtimes begin with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@dataclass(frozen=True, slots=True)
class Listener:
    """A server and its thread. `port`: where it listens, also when 0 was asked for."""

    server: HttpServer
    thread: threading.Thread
    port: int

    def close(self) -> None:
        """Listen no more."""
        self.server.stop()
        self.thread.join(5.0)


def listen(address: str, port: int, handler: Handler, limits: Limits | None = None) -> Listener:
    """Begin to listen: at each address of the machine for "", "0.0.0.0" and "::".

    OSError when the port is taken, or the address is not this machine's.
    """
    raise_descriptor_limit()
    listening = listening_socket(address, port)
    server = HttpServer(listening, handler, limits or Limits())
    thread = threading.Thread(target=server.run, name=f"listen-{port}", daemon=True)
    found = int(listening.getsockname()[1])
    thread.start()
    return Listener(server, thread, found)
