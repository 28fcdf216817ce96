"""Listeners at addresses of IPv4 and IPv6."""

from __future__ import annotations

import errno
import resource
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass

from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.server import Admits, HttpServer
from sparkgen.runtime.httpserver.values import Handler

ANY = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - these listeners reveal no secret
BACKLOG = 1024
"""The connections that the kernel keeps until they are accepted; the kernel has a limit of its own, too."""
NO_IPV6 = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT, errno.ENOPROTOOPT, errno.EINVAL)
"""The errors of a machine without IPv6, or with `ipv6.disable=1`."""
DESCRIPTORS = 4096


def listening_socket(address: str, port: int) -> socket.socket:
    """A listening socket; for an address in ANY, at all addresses of the machine, IPv4 and IPv6.

    Raises OSError if the port is in use, or if the address is not an address of this machine.
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
            # A sysctl may change Linux's default.
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if address == "::" else 1)
        made.bind((address, port))
        made.listen(BACKLOG)
    except BaseException:
        made.close()
        raise
    return made


def raise_descriptor_limit(wanted: int = DESCRIPTORS) -> None:
    """Allow this process to open that many files, if possible: some container runtimes start with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@dataclass(frozen=True, slots=True)
class Listener:
    """A server and its thread. `port`: the port it listens on, also if 0 was requested."""

    server: HttpServer
    thread: threading.Thread
    port: int

    def close(self) -> None:
        """Stop listening."""
        self.server.stop()
        self.thread.join(5.0)


def listen(address: str, port: int, handler: Handler, limits: Limits | None = None) -> Listener:
    """Start listening; for "", "0.0.0.0" and "::" at all addresses of the machine.

    Raises OSError if the port is in use, or if the address is not an address of this machine.
    """
    raise_descriptor_limit()
    return serve(listening_socket(address, port), handler, limits or Limits())


def serve(
    listening: socket.socket, handler: Handler, limits: Limits, admits: Admits | None = None
) -> Listener:
    """Start to accept the connections of a listening socket, which the listener closes at its end.

    `admits`: which connections to accept; None for all.
    """
    listening.setblocking(False)
    server = HttpServer(listening, handler, limits, admits=admits)
    port = int(listening.getsockname()[1])
    thread = threading.Thread(target=server.run, name=f"listen-{port}", daemon=True)
    thread.start()
    return Listener(server, thread, port)
